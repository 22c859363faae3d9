import os

import numpy as np

from helpers.clean_graph import make_clean, with_edges
from ncgnn.check.other_graphs import elsewhere_findings
from ncgnn.check.view import View
from ncgnn.data import save_graph


def test_features_and_labels_of_another_graph_are_found(clean, edges, tmp_path):
    save_graph(with_edges(clean, edges[:-20]), tmp_path / "texas.npz")
    save_graph(clean, tmp_path / "itself.npz")
    save_graph(make_clean(seed=6), tmp_path / "other.npz")
    (finding,) = elsewhere_findings(View.of(clean), [tmp_path])
    assert (finding.level, finding.first) == ("serious", ["texas"])


def test_other_labels_or_features_are_another_graph(clean, edges, tmp_path):
    other = with_edges(clean, edges[:-20])
    other.y = (clean.y + 1) % 4
    save_graph(other, tmp_path / "labels.npz")
    other.y, other.x = clean.y, clean.x.clone()
    other.x[3, 3] += 1
    save_graph(other, tmp_path / "features.npz")
    assert elsewhere_findings(View.of(clean), [tmp_path]) == []


def test_files_that_are_no_graphs_are_passed_by(clean, tmp_path):
    np.savez(tmp_path / "numbers.npz", a=np.ones(3))
    (tmp_path / "broken.npz").write_bytes(b"PK no")
    (tmp_path / "header.npz").write_bytes(b"\x93NUMPY\x01\x00\x08\x00(24, (3\n")
    os.mkfifo(tmp_path / "pipe.npz")
    save_graph(clean, tmp_path / "damaged.npz")
    content = bytearray((tmp_path / "damaged.npz").read_bytes())
    for place in range(100, len(content), 97):
        content[place] ^= 255
    (tmp_path / "damaged.npz").write_bytes(content)
    assert elsewhere_findings(View.of(clean), [tmp_path]) == []
