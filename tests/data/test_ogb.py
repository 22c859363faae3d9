"""Folders laid out like those of the Open Graph Benchmark."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from ncgnn.cli.app import app
from ncgnn.data import large_graph, read_graph, usual_split
from ncgnn.errors import InputError

NODES, CLASSES = 300, 3
PARTS = {"train": range(200), "valid": range(200, 250), "test": range(250, 300)}


@pytest.fixture(scope="module")
def graph():
    return large_graph(NODES, num_features=5, num_classes=CLASSES)


def write(path: Path, rows, header: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header] * bool(header) + [",".join(map(str, row)) for row in rows]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


def common(folder: Path, split: str) -> None:
    for part, nodes in PARTS.items():
        write(folder / f"split/{split}/{part}.csv.gz", [(node,) for node in nodes])


def once(graph) -> np.ndarray:
    pairs = graph.edge_index.numpy().T
    return pairs[pairs[:, 0] < pairs[:, 1]]


@pytest.fixture
def arxiv(graph, tmp_path):
    folder = tmp_path / "ogbn_arxiv"
    common(folder, "time")
    write(folder / "raw/edge.csv.gz", once(graph)[:, ::-1])
    write(folder / "raw/node-feat.csv.gz", graph.x.tolist())
    write(folder / "raw/node-label.csv.gz", graph.y[:, None].tolist())
    write(folder / "raw/num-node-list.csv.gz", [(NODES,)])
    write(folder / "raw/num-edge-list.csv.gz", [(len(once(graph)),)])
    write(folder / "raw/node_year.csv.gz", [(2015,)] * NODES)
    names = [(number, f"arxiv cs {'abc'[number]}") for number in range(CLASSES)]
    write(folder / "mapping/labelidx2arxivcategeory.csv.gz", names, "label idx,arxiv category")
    papers = [(number, 9 * 10**8 + number) for number in range(NODES)]
    write(folder / "mapping/nodeidx2paperid.csv.gz", papers, "node idx,paper id")
    return folder


@pytest.fixture
def papers(graph, tmp_path):
    folder = tmp_path / "ogbn_papers100M"
    common(folder, "time")
    (folder / "raw").mkdir()
    arrays = {"edge_index": once(graph).T, "node_feat": graph.x.numpy(), "num_nodes_list": np.array([NODES])}
    np.savez(folder / "raw/data.npz", **arrays)
    label = graph.y.numpy().astype(np.float32)[:, None]
    label[::2] = np.nan
    np.savez(folder / "raw/node-label.npz", node_label=label)
    return folder


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
        assert split[f"{part}_mask"].nonzero().ravel().tolist() == list(PARTS[file])


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
    write(arxiv / name, rows)
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
