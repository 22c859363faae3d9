"""Predictions of graphs that take several parts."""

import json
import signal

import pandas as pd
import pytest

from helpers.signalled import renames, run
from ncgnn import parts
from ncgnn.batches import map_graph
from ncgnn.cli.graph import GraphOptions
from ncgnn.cli.remembered import key_of
from ncgnn.data import split_stratified
from ncgnn.data.generated.large import large_graph

SIZE = 500
TRAIN = ["train", "graph", "--epochs", 1, "--batch", 64, "--set", "num_capsules=2", "--set", "primary_channels=4"]
TRAIN += ["--set", "class_channels=4", "--set", "top_k=8", "--out", "run"]


@pytest.fixture
def graph(here):
    return map_graph(here / "graph", split_stratified(large_graph(1800, num_features=8, num_classes=3), 0.05, 0.05))


def test_parts_give_what_one_table_gives(ncgnn, graph, here, monkeypatch):
    assert ncgnn(*TRAIN).code == 0
    for name in ("whole.csv", "whole.PARQUET"):
        assert ncgnn("predict", "run", "--probabilities", "--out", name).code == 0
    whole = ncgnn("predict", "run", "--json").out
    monkeypatch.setattr(parts, "ROWS", SIZE)
    for name in ("parts.csv", "parts.parquet"):
        assert ncgnn("predict", "run", "--probabilities", "--out", name).code == 0
    assert (here / "parts.csv").read_bytes() == (here / "whole.csv").read_bytes()
    pd.testing.assert_frame_equal(pd.read_parquet("parts.parquet"), pd.read_parquet("whole.PARQUET"))
    assert len(pd.read_csv("parts.csv")) == 1800
    assert [json.loads(line)["id"] for line in whole.splitlines()] == list(graph.node_ids)
    assert not list(here.glob(".*"))


def test_files_are_only_hashed_for_a_table_in_parts(ncgnn, graph, monkeypatch):
    assert ncgnn(*TRAIN).code == 0
    hashed = []
    monkeypatch.setattr("ncgnn.cli.remembered.source", lambda *given: hashed.append(given))
    assert ncgnn("predict", "run", "graph", "--out", "whole.csv").code == 0
    assert not hashed
    monkeypatch.setattr(parts, "ROWS", SIZE)
    assert ncgnn("predict", "run", "graph", "--out", "parts.csv").code == 0
    assert len(hashed) == 1


def test_a_continued_prediction_says_which_nodes_it_counts(ncgnn, here, monkeypatch):
    graph = split_stratified(large_graph(1800, num_features=8, num_classes=3), 0.2, 0.2)
    graph.node_ids = ["=1+1", *map(str, range(1, 1800))]
    map_graph(here / "graph", graph)
    assert ncgnn(*TRAIN, "--calibrate", 0.5).code == 0
    monkeypatch.setattr(parts, "ROWS", SIZE)
    predict = ["predict", "run", "graph", "--min-confidence", 1, "--out", "out.csv"]
    assert "class left blank for 1800 of 1800 nodes" in ncgnn(*predict).err
    with monkeypatch.context() as stopped:
        stopped.setattr(parts.Parts, "join", lambda self: None)
        assert ncgnn(*predict, "--overwrite").code == 0
    (here / ".out.csv.ncgnn-parts" / "000000001500-000000001800").unlink()
    done = ncgnn(*predict, "--overwrite")
    assert "class left blank for 300 of the last 300 nodes" in done.err
    assert "1 name of nodes or classes, such as '=1+1'" in done.err


def test_parts_are_of_one_version_and_one_model_class(graph, here, monkeypatch):
    (here / "model").write_text("weights")
    options = GraphOptions(name="graph")
    keys = [key_of(here / "out.csv", here / "model", name, options, []) for name in (None, "mine:Own")]
    monkeypatch.setattr("ncgnn.provenance.versions", lambda *packages: dict.fromkeys(packages, "0.0"))
    keys.append(key_of(here / "out.csv", here / "model", None, options, []))
    assert len(set(keys)) == 3


@pytest.mark.long
def test_a_killed_prediction_goes_on_after_its_last_part(graph, here, tmp_path, monkeypatch):
    assert run(TRAIN, tmp_path)[0] == 0
    predict = ["predict", "run", "--out", "out.csv"]
    assert run(predict, tmp_path)[0] == 0
    whole = (here / "out.csv").read_bytes()
    monkeypatch.setattr(parts, "ROWS", SIZE)
    predict[-1] = "parts.csv"
    count = renames(predict, tmp_path)
    for number in range(1, count + 1):
        (here / "parts.csv").unlink()
        assert run(predict, tmp_path, number, signal.SIGKILL)[0] == -signal.SIGKILL
        assert not (here / "parts.csv").exists()
        finished = len(list((here / ".parts.csv.ncgnn-parts").glob("[0-9]*")))
        assert renames(predict, tmp_path) == count - finished - (number > 1)  # the key is written first
        assert (here / "parts.csv").read_bytes() == whole


@pytest.mark.long
def test_parts_of_another_command_are_not_taken(graph, here, tmp_path, monkeypatch):
    assert run(TRAIN, tmp_path)[0] == 0
    monkeypatch.setattr(parts, "ROWS", SIZE)
    asked = ["predict", "run", "--out", "out.csv", "--probabilities"]
    assert run(asked[:-1], tmp_path, 3, signal.SIGKILL)[0] == -signal.SIGKILL
    assert run(asked, tmp_path)[0] == 0
    assert len(pd.read_csv(here / "out.csv").columns) == 5 + 3
    assert len(pd.read_csv(here / "out.csv")) == 1800
