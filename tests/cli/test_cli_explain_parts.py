"""Tables of explanations that take several parts."""

import signal

import pandas as pd
import pytest

from helpers.signalled import renames, run
from ncgnn.batches import map_graph
from ncgnn.cli import explain
from ncgnn.data import split_stratified
from ncgnn.data.generated.large import large_graph

SIZE = 150
TRAIN = ["train", "graph", "--epochs", 1, "--set", "num_capsules=2", "--set", "primary_channels=4"]
TRAIN += ["--set", "class_channels=4", "--set", "top_k=4", "--out", "run"]
BATCHES = ["--batch", 64]


@pytest.fixture(autouse=True)
def graph(here):
    map_graph(here / "graph", split_stratified(large_graph(400, num_features=8, num_classes=3), 0.2, 0.2))


@pytest.mark.parametrize("batches", [BATCHES, []])
def test_parts_give_what_one_table_gives(ncgnn, here, monkeypatch, batches):
    assert ncgnn(*TRAIN, *batches).code == 0
    for name in ("whole.csv", "whole.parquet"):
        assert ncgnn("explain", "run", "--against", "runner-up", "--out", name).code == 0
    monkeypatch.setattr(explain, "PART", SIZE)
    for name in ("parts.csv", "parts.parquet"):
        assert ncgnn("explain", "run", "--against", "runner-up", "--out", name).code == 0
    assert (here / "parts.csv").read_bytes() == (here / "whole.csv").read_bytes()
    pd.testing.assert_frame_equal(pd.read_parquet("parts.parquet"), pd.read_parquet("whole.parquet"))
    assert pd.read_csv("parts.csv")["id"].nunique() == 400
    assert not list(here.glob(".*"))


@pytest.mark.long
def test_a_killed_command_goes_on_after_its_last_part(here, tmp_path, monkeypatch):
    assert run([*TRAIN, *BATCHES], tmp_path)[0] == 0
    monkeypatch.setattr(explain, "PART", SIZE)
    command = ["explain", "run", "--out", "out.parquet"]
    count = renames(command, tmp_path)
    whole = pd.read_parquet("out.parquet")
    for number in range(1, count + 1):
        (here / "out.parquet").unlink()
        assert run(command, tmp_path, number, signal.SIGKILL)[0] == -signal.SIGKILL
        assert not (here / "out.parquet").exists()
        finished = len(list((here / ".out.parquet.ncgnn-parts").glob("[0-9]*")))
        assert renames(command, tmp_path) == count - finished - (number > 1)  # the key is written first
        pd.testing.assert_frame_equal(pd.read_parquet("out.parquet"), whole)
