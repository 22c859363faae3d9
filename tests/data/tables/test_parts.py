"""A table in several Parquet files, and edge tables that are read in batches."""

import os

import numpy as np
import pandas as pd
import pytest
import torch

from ncgnn.data import read_graph
from ncgnn.data.tables import edges as module
from ncgnn.errors import InputError

NODES = pd.DataFrame({"id": np.arange(20) * 3, "topic": ["a", "b"] * 10, "size": np.linspace(0, 1, 20)})
EDGES = pd.DataFrame({"source": NODES["id"].to_numpy()[:-1], "target": NODES["id"].to_numpy()[1:]})


@pytest.fixture
def folder(tmp_path):
    for name, table in (("nodes", NODES), ("edges", EDGES)):
        (tmp_path / name).mkdir()
        for part in range(3):
            table.iloc[part * 7 : (part + 1) * 7].to_parquet(tmp_path / name / f"part-{part}.parquet", index=False)
        (tmp_path / name / "_SUCCESS").touch()
    return tmp_path


def test_a_folder_of_parts_is_one_table(folder):
    whole, parts = (
        read_graph(NODES, EDGES, label="topic"),
        read_graph(folder / "nodes", folder / "edges", label="topic"),
    )
    for key in ("x", "edge_index", "y"):
        assert torch.equal(parts[key], whole[key])
    assert parts.node_ids == whole.node_ids
    assert parts.name == "nodes"


def test_parts_need_the_same_columns(folder):
    EDGES.assign(weight=1.0).to_parquet(folder / "edges" / "part-1.parquet", index=False)
    with pytest.raises(InputError, match=r"part-1\.parquet has other columns than the first: source, target, weight"):
        read_graph(folder / "nodes", folder / "edges")


def test_a_pipe_among_the_parts_is_not_waited_for(folder):
    os.mkfifo(folder / "edges" / "part-3.parquet")
    with pytest.raises(InputError, match=r"edges/part-3\.parquet: cannot be read \(not a regular file\)"):
        read_graph(folder / "nodes", folder / "edges")


@pytest.mark.parametrize("kind", ["int64", "Int64", "float64", "str", "category"])
def test_batches_give_the_same_edges(kind, monkeypatch):
    expected = read_graph(NODES, EDGES).edge_index
    monkeypatch.setattr(module, "_BATCH", 4)
    assert torch.equal(read_graph(NODES, EDGES.astype(kind)).edge_index, expected)


def test_an_unknown_node_is_found_in_a_later_batch(monkeypatch):
    monkeypatch.setattr(module, "_BATCH", 4)
    wrong = EDGES.replace({"target": {30: 31}})
    with pytest.raises(InputError, match=r"'target', row 10: node '31' is not in the node table; edges with an unk"):
        read_graph(NODES, wrong)
