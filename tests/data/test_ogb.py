"""Folders laid out like those of the Open Graph Benchmark."""

import json
import shutil

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from helpers.ogb_folders import parts, write_arrays, write_table, write_tables
from ncgnn.cli.app import app
from ncgnn.data import large_graph, read_graph, usual_split
from ncgnn.errors import InputError

NODES, CLASSES = 300, 3


@pytest.fixture(scope="module")
def graph():
    return large_graph(NODES, num_features=5, num_classes=CLASSES)


@pytest.fixture
def arxiv(graph, tmp_path):
    write_tables(tmp_path / "ogbn_arxiv", graph)
    return tmp_path / "ogbn_arxiv"


@pytest.fixture
def papers(graph, tmp_path):
    write_arrays(tmp_path / "ogbn_papers100M", graph)
    return tmp_path / "ogbn_papers100M"


def test_a_folder_of_tables_is_the_graph(arxiv, graph):
    found = read_graph(arxiv)
    assert found.name == "ogbn_arxiv"
    torch.testing.assert_close(found.x, graph.x)
    assert torch.equal(found.edge_index, graph.edge_index)
    assert torch.equal(found.y, graph.y)
    assert found.class_names == ["arxiv cs a", "arxiv cs b", "arxiv cs c"]
    assert found.node_ids[7] == "900000007"


def test_its_split_is_the_usual_one(arxiv):
    split = usual_split(read_graph(arxiv))
    for part, file in (("train", "train"), ("val", "valid"), ("test", "test")):
        assert split[f"{part}_mask"].nonzero().ravel().tolist() == list(parts(NODES)[file])


def test_products_have_another_split_and_no_ids(arxiv):
    shutil.move(arxiv / "split/time", arxiv / "split/sales_ranking")
    shutil.rmtree(arxiv / "mapping")
    found = read_graph(str(arxiv))
    assert found.class_names == ["0", "1", "2"]
    assert found.node_ids[:2] == ["0", "1"]
    assert int(found.train_mask.sum()) == 200


def test_a_folder_of_arrays_is_the_graph_with_unknown_labels(papers, graph):
    found = read_graph(papers)
    assert torch.equal(found.x, graph.x)
    assert torch.equal(found.edge_index, graph.edge_index)
    assert (found.y[::2] == -1).all()
    assert torch.equal(found.y[1::2], graph.y[1::2])
    assert usual_split(found).train_mask.sum() == 100


def test_commands_take_the_folder(arxiv, tmp_path):
    done = CliRunner().invoke(app, ["check", str(arxiv), "--json", "--set", "num_capsules=2"])
    report = json.loads(done.stdout)
    assert (report["nodes"], report["classes"], report["labelled"]) == (NODES, CLASSES, NODES)


def corrupt(arxiv, name, rows):
    write_table(arxiv / name, rows)
    return arxiv


@pytest.mark.parametrize(
    ("name", "rows", "reason"),
    [
        ("raw/edge.csv.gz", [(0, NODES)], "edges outside 0 to 299"),
        ("raw/edge.csv.gz", [(0, 1, 2)], "two ends"),
        ("raw/edge.csv.gz", [("a", "b")], r"edge\.csv\.gz: cannot be read"),
        ("raw/node-label.csv.gz", [(0,)] * 299, "one class each"),
        ("raw/node-label.csv.gz", [(0.5,)] * NODES, "class numbers"),
        ("raw/node-label.csv.gz", [(0, 1)] * NODES, "one class each"),
        ("raw/num-node-list.csv.gz", [(299,)], "299 nodes"),
        ("split/time/valid.csv.gz", [(NODES,)], "nodes outside"),
        ("mapping/nodeidx2paperid.csv.gz", [(0, 1)], "different names"),
    ],
)
def test_a_damaged_folder_is_refused(arxiv, name, rows, reason):
    with pytest.raises(InputError, match=reason):
        read_graph(corrupt(arxiv, name, rows))


def test_a_folder_of_arrays_without_nodes_is_refused(papers):
    np.savez(papers / "raw/data.npz", edge_index=np.zeros((2, 0), np.int64), node_feat=np.zeros((0, 5), np.float32))
    np.savez(papers / "raw/node-label.npz", node_label=np.zeros((0, 1), np.float32))
    with pytest.raises(InputError, match=r"raw: there are no nodes"):
        read_graph(papers)


def test_a_missing_file_is_named(arxiv, papers):
    (arxiv / "raw/node-feat.csv.gz").unlink()
    with pytest.raises(InputError, match=r"node-feat\.csv\.gz"):
        read_graph(arxiv)
    (papers / "raw/node-label.npz").unlink()
    with pytest.raises(InputError, match=r"node-label\.npz"):
        read_graph(papers)


def test_options_of_tables_do_not_apply(arxiv):
    with pytest.raises(InputError, match="label only applies to tables"):
        read_graph(arxiv, label="topic")
    with pytest.raises(InputError, match="includes the edges"):
        read_graph(arxiv, "edges.csv")
