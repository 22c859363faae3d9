"""What a graph of another kind is told, instead of being misread."""

import pickle
import re
import shlex

import numpy as np
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import ncgnn as library
from ncgnn.data import load_dataset


@pytest.fixture
def arrays(here) -> dict[str, np.ndarray]:
    """Those of the karate club."""
    library.save_graph(load_dataset("karate"), "karate.npz")
    with np.load("karate.npz") as found:
        return dict(found)


def test_features_of_edges_are_said_to_be_unused(ncgnn, arrays):
    np.savez("attributes.npz", **arrays, edge_attr=np.ones((len(arrays["edges"]), 3)))
    done = ncgnn("check", "attributes.npz")
    assert done.code in (0, 1)
    said = "note: attributes.npz: array 'edge_attr' is not used: give weights of edges as 'edge_weight'"
    assert said in done.err


def test_several_classes_of_a_node_are_refused(ncgnn, arrays):
    np.savez("several.npz", **arrays | {"labels": np.eye(4, dtype=int)[arrays["labels"]]})
    done = ncgnn("train", "several.npz")
    said = "several.npz: array 'labels' has 4 columns, but a node has one class, not several: keep one column"
    assert (done.code, done.err.strip().removeprefix("ncgnn: ")) == (2, said)


def test_several_labels_in_a_cell_are_refused(ncgnn, here):
    table = pd.DataFrame({"id": range(4), "size": [1.0, 2.0, 3.0, 4.0], "topics": [["a"], ["a", "b"], ["b"], ["c"]]})
    table.to_parquet("nodes.parquet")
    (here / "edges.csv").write_text("source,target\n0,1\n2,3\n")
    done = ncgnn("train", "--nodes", "nodes.parquet", "--edges", "edges.csv", "--label", "topics")
    said = "column 'topics': has several labels per node, but a node has one class"
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_pickled_graphs_of_one_or_several_kinds_of_nodes_are_not_opened(ncgnn, here):
    (here / "several.pt").write_bytes(pickle.dumps(HeteroData()))
    done = ncgnn("train", "several.pt")
    assert (done.code, done.err) == (
        2,
        "ncgnn: several.pt: pickled graphs are not read, because they can run code: save the graph in Python with"
        " ncgnn.save_graph(ncgnn.read_graph(data), 'several.npz')\n",
    )
    with pytest.raises(library.InputError, match="a HeteroData has several kinds of nodes"):
        library.save_graph(library.read_graph(HeteroData()), "several.npz")
    ring = torch.stack([torch.arange(12), (torch.arange(12) + 1) % 12])  # each edge in one direction
    data = Data(x=torch.rand(12, 3), edge_index=ring, y=torch.arange(12) % 2)
    library.save_graph(library.read_graph(data), "one.npz")
    assert "one: 12 nodes, 12 edges, " in ncgnn("check", "one.npz").out


def test_edges_are_read_in_both_directions_if_listed_once_or_twice(ncgnn, arrays):
    told = []
    for name, edges in {
        "once": arrays["edges"],
        "twice": np.vstack([arrays["edges"], arrays["edges"][:, ::-1]]),
    }.items():
        np.savez(f"{name}.npz", **arrays | {"edges": edges, "name": "club"})
        told.append(ncgnn("check", f"{name}.npz").out.splitlines()[:2])
    assert told[0] == told[1]
    assert "78 edges" in told[0][0]


def test_advice_of_check_can_be_pasted(ncgnn, here):
    draw = np.random.default_rng(0)
    y = np.arange(60) % 3
    pairs = draw.integers(60, size=(400, 2))
    pairs = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]][:150]  # neighbours differ
    np.savez("differ.npz", edges=np.unique(np.sort(pairs), axis=0), labels=y, x=draw.random((60, 5)))
    advised = re.search(r"--set \S+", ncgnn("check", "differ.npz").out)
    assert advised is not None
    done = ncgnn("train", "differ.npz", *shlex.split(advised[0].rstrip(",.:;")), "--set", "epochs=2")
    assert done.code == 0, done.err
