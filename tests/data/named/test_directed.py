"""Named graphs have the directed edges that lie beside them."""

import shutil

import numpy as np
import pytest
import torch

from ncgnn.data import load_dataset, read_graph, save_graph, usual_split
from ncgnn.data.fingerprint import fingerprint
from ncgnn.errors import InputError


@pytest.fixture
def folder(benchmark, tmp_path, monkeypatch):
    """A data folder with Texas and its directed edges."""
    monkeypatch.setenv("NCGNN_DATA", str(tmp_path))
    (tmp_path / "directed").mkdir()
    for name in ("texas.npz", "directed/texas.npz"):
        shutil.copyfile(benchmark / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("name", ["texas", "cornell", "wisconsin", "actor", "chameleon", "squirrel"])
def test_both_directions_of_the_links_are_the_edges(benchmark, name):
    data = load_dataset(name)
    links = data.edge_tables["links"]
    with np.load(benchmark / "directed" / f"{name}.npz") as published:
        pairs = {(a, b) for a, b in published["edges"].tolist() if a != b}
    assert set(map(tuple, links.edge_index.T.tolist())) == pairs
    assert links.edge_index.shape[1] == len(pairs)
    assert (links.is_directed, links.edge_weight) == (True, None)
    closed = torch.cat([links.edge_index, links.edge_index.flip(0)], dim=1).unique(dim=1)
    assert torch.equal(closed, data.edge_index)


def test_directions_leave_the_rest_of_the_graph_and_its_fingerprint_alone(folder):
    with_links = load_dataset("texas")
    (folder / "directed" / "texas.npz").unlink()
    without = load_dataset("texas")
    assert "edge_tables" not in without
    assert torch.equal(with_links.edge_index, without.edge_index)
    assert fingerprint(with_links) == fingerprint(without)
    assert "links" in usual_split(with_links, 3).edge_tables


def test_a_saved_copy_has_the_links_and_the_same_fingerprint(folder):
    data = load_dataset("texas")
    save_graph(data, folder / "copy.npz")
    again = read_graph(folder / "copy.npz", directed=True)
    assert torch.equal(again.edge_tables["links"].edge_index, data.edge_tables["links"].edge_index)
    assert fingerprint(again) == fingerprint(data)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.array([[0, 1]]), r"directed/texas.npz: the edge tables have 1 edges, which are not the 279 edges"),
        (np.array([[0, 183]]), "nodes outside 0 to 182"),
        (np.array([0.5]), "must be integers of shape"),
    ],
)
def test_links_of_another_graph_are_refused(folder, edges, message):
    np.savez(folder / "directed" / "texas.npz", edges=edges)
    with pytest.raises(InputError, match=message):
        load_dataset("texas")


def test_a_broken_file_is_named(folder):
    (folder / "directed" / "texas.npz").write_bytes(b"no zip")
    with pytest.raises(InputError, match=r"directed/texas.npz: cannot be read"):
        load_dataset("texas")
