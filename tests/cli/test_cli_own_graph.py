"""A person's own tables through the whole command line, beside the same graph prepared by others."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from ncgnn.data import load_dataset, save_graph, split_per_class
from ncgnn.data.graph import feature_matrix

SETTINGS = ["filter='diffusion'", "top_k=32", "lr=0.01", "dropout=0.5", "epochs=60", "patience=20"]
OPTIONS = ["--per-class", 20, "--val", 300, "--splits", 3, *(part for one in SETTINGS for part in ("--set", one))]


@pytest.fixture
def cora_ml():
    """Cora-ML with few labels: enough for 20 a topic and 300 others. ``truth`` has all of them."""
    if not os.environ.get("NCGNN_DATA"):
        pytest.skip("set NCGNN_DATA to the benchmark folder")
    data = load_dataset("cora-ml")
    data.truth = data.y.clone()
    data.node_ids = [f"paper-{i:04d}" for i in np.random.default_rng(0).permutation(data.num_nodes)]
    split = split_per_class(data, 20, 300)
    data.y = torch.where(split.train_mask | split.val_mask, data.y, -1)
    return data


def write_tables(folder: Path, data) -> None:
    """Words as text, string ids, blank topics, a key, numbers with gaps, edges again and in the other direction."""
    rng = np.random.default_rng(1)
    x, words = feature_matrix(data.x), np.array(data.feature_names)
    texts = [" ".join(words[x.indices[a:b]]) for a, b in zip(x.indptr, x.indptr[1:], strict=False)]
    topics = [data.class_names[y] if y >= 0 else "" for y in data.y.tolist()]
    pages = pd.Series(rng.integers(4, 30, len(texts))).astype("Int64").mask(rng.random(len(texts)) < 0.2)
    ids = np.array(data.node_ids)
    nodes = {"paper": ids, "topic": topics, "abstract": texts, "pages": pages, "doi": [f"10/{name}" for name in ids]}
    pd.DataFrame(nodes).to_csv(folder / "papers.csv", index=False)
    pairs = data.edge_index.T.numpy()
    pairs = np.concatenate([pairs[rng.random(len(pairs)) < 0.7], pairs[pairs[:, 0] < pairs[:, 1]]])
    cites = pd.DataFrame(ids[rng.permutation(pairs)], columns=["citing", "cited"])
    cites.to_csv(folder / "cites.tsv", index=False, sep="\t")


def write_prepared(path: Path, data) -> None:
    graph = data.clone()
    del graph.truth
    save_graph(graph, path)


def accuracy(table: Path, data) -> float:
    """On the nodes whose topic the tables do not tell."""
    predicted = pd.read_csv(table, keep_default_na=False)
    assert predicted["id"].tolist() == data.node_ids
    hidden = (data.y < 0).numpy()
    right = predicted["predicted"].to_numpy() == np.array(data.class_names)[data.truth.numpy()]
    return float(right[hidden].mean())


@pytest.mark.long
def test_tables_are_as_good_as_the_prepared_graph(ncgnn, here, cora_ml):
    write_tables(here, cora_ml)
    tables = ["--nodes", "papers.csv", "--edges", "cites.tsv"]
    done = ncgnn("train", *tables, "--label", "topic", "--ignore", "pages", *OPTIONS, "--out", "own")
    assert done.code == 0
    assert "  abstract  text      2879 words, 100% of all" in done.out
    assert "column 'doi': 2995 different values in 2995 rows look like a key: left out" in done.err
    write_prepared(here / "prepared.npz", cora_ml)
    assert ncgnn("train", "prepared.npz", *OPTIONS, "--out", "prepared").code == 0
    own, prepared = (
        np.mean([accuracy(table, cora_ml) for table in here.glob(f"{run}/*/predictions.csv")])
        for run in ("own", "prepared")
    )
    assert prepared > 0.8
    assert own > prepared - 0.01

    assert ncgnn("predict", "own/split-0", *tables, "--out", "again.csv").code == 0
    assert accuracy(here / "again.csv", cora_ml) == accuracy(here / "own/split-0/predictions.csv", cora_ml)

    node = cora_ml.node_ids[7]
    why = ncgnn("explain", "own/split-0", *tables, "--node", node, "--features").out
    assert f"Node {node} is predicted " in why
    assert why.count("paper-") > 3
    assert why.count("abstract:") > 10
    assert any(topic in why for topic in cora_ml.class_names)
