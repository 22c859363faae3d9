"""A person's own tables through the whole command line, beside the same graph prepared by others."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from ncgnn.data import load_dataset, read_graph, save_graph, split_per_class
from ncgnn.data.graph import feature_matrix

SETTINGS = ["filter='diffusion'", "top_k=32", "lr=0.01", "dropout=0.5", "epochs=60", "patience=20"]
OPTIONS = ["--per-class", 20, "--val", 300, "--splits", 3, *(part for one in SETTINGS for part in ("--set", one))]
TABLES = ["--nodes", "papers.csv", "--edges", "cites.tsv"]


@pytest.fixture
def cora_ml(benchmark):
    """Cora-ML with few labels: enough for 20 a topic and 300 others. ``truth`` has all of them. Topics are numbered in
    the order of their names, as those of tables are."""
    data = load_dataset("cora-ml")
    order = np.argsort(data.class_names)
    data.y = torch.from_numpy(np.argsort(order))[data.y]
    data.class_names = [data.class_names[number] for number in order]
    data.truth = data.y.clone()
    data.node_ids = [f"paper-{i:04d}" for i in np.random.default_rng(0).permutation(data.num_nodes)]
    split = split_per_class(data, 20, 300)
    data.y = torch.where(split.train_mask | split.val_mask, data.y, -1)
    return data


def texts(data) -> list[str]:
    """The papers' words, each as often as it was counted. The prepared features are TF-IDF as scikit-learn has it:
    divided by a word's weight, the values of a paper are its counts but for a factor."""
    x, words = feature_matrix(data.x).astype(float), np.array(data.feature_names)
    weight = np.log((1 + x.shape[0]) / (1 + np.diff(x.tocsc().indptr))) + 1
    counts = sp.csr_array(x @ sp.diags_array(1 / weight))
    rows = [slice(a, b) for a, b in zip(counts.indptr, counts.indptr[1:], strict=False)]
    times = [np.rint(counts.data[row] / counts.data[row].min(initial=np.inf)).astype(int) for row in rows]
    return [" ".join(np.repeat(words[counts.indices[row]], count)) for row, count in zip(rows, times, strict=True)]


def write_tables(folder: Path, data) -> None:
    """Words as text, string ids, blank topics, a key, numbers with gaps, edges again and in the other direction."""
    rng, ids = np.random.default_rng(1), np.array(data.node_ids)
    topics = [data.class_names[y] if y >= 0 else "" for y in data.y.tolist()]
    pages = pd.Series(rng.integers(4, 30, len(ids))).astype("Int64").mask(rng.random(len(ids)) < 0.2)
    nodes = {"paper": ids, "topic": topics, "abstract": texts(data), "pages": pages, "doi": [f"10/{id}" for id in ids]}
    pd.DataFrame(nodes).to_csv(folder / "papers.csv", index=False)
    pairs = data.edge_index.T.numpy()
    pairs = np.concatenate([pairs[rng.random(len(pairs)) < 0.7], pairs[pairs[:, 0] < pairs[:, 1]]])
    cites = pd.DataFrame(ids[rng.permutation(pairs)], columns=["citing", "cited"])
    cites.to_csv(folder / "cites.tsv", index=False, sep="\t")


def write_prepared(path: Path, data) -> None:
    graph = data.clone()
    del graph.truth
    save_graph(graph, path)


def predicted(table: Path) -> pd.DataFrame:
    return pd.read_csv(table, keep_default_na=False, dtype={"id": str})


def accuracy(table: Path, data) -> float:
    """On the nodes whose topic the tables do not tell."""
    found = predicted(table)
    assert found["id"].tolist() == data.node_ids
    hidden = (data.y < 0).numpy()
    right = found["predicted"].to_numpy() == np.array(data.class_names)[data.truth.numpy()]
    return float(right[hidden].mean())


@pytest.mark.filterwarnings("ignore:.*dropped:UserWarning")
def test_tables_hold_the_prepared_graph_to_the_last_word(here, cora_ml):
    write_tables(here, cora_ml)
    data = read_graph(here / "papers.csv", here / "cites.tsv", label="topic", ignore=["pages"])
    assert data.feature_names == [f"abstract:{word}" for word in cora_ml.feature_names]
    assert (data.class_names, data.node_ids) == (cora_ml.class_names, cora_ml.node_ids)
    torch.testing.assert_close(data.x.to_dense(), cora_ml.x.to_dense(), atol=1e-6, rtol=1e-5)
    assert torch.equal(data.edge_index, cora_ml.edge_index)
    assert torch.equal(data.y, cora_ml.y)


@pytest.mark.long
def test_tables_are_as_good_as_the_prepared_graph(ncgnn, here, cora_ml):
    write_tables(here, cora_ml)
    checked = json.loads(ncgnn("check", *TABLES, "--label", "topic", "--ignore", "pages", "--json").out)
    assert (checked["nodes"], checked["classes"], checked["labelled"]) == (2995, 7, 440)
    assert checked["homophily"]["edge"] > 0.7
    assert not checked["serious"]

    done = ncgnn("train", *TABLES, "--label", "topic", "--ignore", "pages", *OPTIONS, "--out", "own")
    assert done.code == 0
    assert "  abstract  text     vocabulary of 2879 words, covering 100% of the text" in done.out
    assert "column 'doi': 2995 different values in 2995 rows look like a key; dropped" in done.err
    write_prepared(here / "prepared.npz", cora_ml)
    assert ncgnn("train", "prepared.npz", *OPTIONS, "--out", "prepared").code == 0
    for split in range(3):
        own, prepared = (here / run / f"split-{split}/predictions.csv" for run in ("own", "prepared"))
        assert predicted(own)["split"].tolist() == predicted(prepared)["split"].tolist()
        assert accuracy(prepared, cora_ml) > 0.78
        assert accuracy(own, cora_ml) == pytest.approx(accuracy(prepared, cora_ml), abs=0.01)

    assert ncgnn("predict", "own/split-0", *TABLES, "--out", "again.csv").code == 0
    assert predicted(here / "again.csv").equals(predicted(here / "own/split-0/predictions.csv").drop(columns="split"))

    node = cora_ml.node_ids[7]
    why = ncgnn("explain", "own/split-0", *TABLES, "--node", node, "--features").out
    assert f"Node {node}: " in why
    assert why.count("paper-") > 3
    assert why.count("abstract:") > 10
    assert any(topic in why for topic in cora_ml.class_names)
    report = (here / "own/split-0/report.md").read_text()
    assert all(f"“{topic}”" in report for topic in cora_ml.class_names)
    assert report.count("abstract:") == 35
