from dataclasses import replace
from math import isfinite
from pathlib import Path

import pandas as pd
import pytest

from ncgnn.bench import hops_of, measured, random_graph
from ncgnn.check import cost as module
from ncgnn.check.cost import cost_findings, expected_cost, expected_megabytes
from ncgnn.check.view import View
from ncgnn.data import load_dataset, split_stratified
from ncgnn.data.generated.large import large_graph
from ncgnn.models.ncgnn import memory
from ncgnn.models.ncgnn.config import Config

SMALL = {"hops": 2, "num_capsules": 2, "primary_channels": 8, "class_channels": 4}


@pytest.fixture
def small() -> Config:
    return Config.make(SMALL | {"epochs": 300, "patience": 50})


def test_time_and_memory_are_expected(clean, small):
    found = expected_cost(View.of(clean), small)
    assert 0 < found.epoch_seconds < 60
    assert found.epochs == (51, 300)
    assert found.megabytes > 0
    assert isfinite(found.free_megabytes)
    assert found.measured_nodes == 400


def test_a_large_graph_is_measured_by_a_small_one(clean, small, monkeypatch):
    monkeypatch.setattr(module, "MOST_NODES", 100)
    assert expected_cost(View.of(clean), small).measured_nodes == 100


def test_a_graph_that_hardly_fits_into_memory_is_measured_by_a_smaller_one(clean, small, monkeypatch):
    needed = 2**20 * expected_megabytes(View.of(clean), small)
    monkeypatch.setattr(module, "available_bytes", lambda: needed)
    assert expected_cost(View.of(clean), small).measured_nodes < 400


def test_too_little_memory_is_serious(clean, small):
    found = expected_cost(View.of(clean), small)
    assert cost_findings(found) == []
    assert found.batches is not None
    assert cost_findings(replace(found, megabytes=2e9)) == []  # then it is trained in batches
    for batches in (None, replace(found.batches, megabytes=1e9)):
        (finding,) = cost_findings(replace(found, megabytes=2e9, batches=batches))
        assert finding.level == "serious"


def test_batches_are_expected_beside_the_full_batch():
    data = split_stratified(large_graph(3000, num_features=8), 0.1, 0.1)
    whole = expected_cost(View.of(data), Config.make(SMALL))
    batches = whole.batches
    assert batches is not None
    assert batches.targets == 300
    assert batches.targets < batches.nodes < 3000
    assert 0 < batches.filter_seconds < 60
    assert 0 < batches.epoch_seconds < 60
    assert not whole.is_in_batches
    assert replace(whole, megabytes=2e9).is_in_batches
    assert expected_cost(View.of(data), Config.make(SMALL | {"batch": 10, "top_k": 4})).batches.targets == 10


def test_beliefs_have_no_batches(clean):
    config = Config.make(SMALL | {"groups": [{"reads": "beliefs", "hops": [1]}]})
    assert expected_cost(View.of(clean), config).batches is None


def test_memory_grows_with_nodes_and_capsules(small):
    some, more = (expected_megabytes(View.of(random_graph(n, num_features=8)), small) for n in (1000, 4000))
    assert more == pytest.approx(4 * some, rel=0.1)
    view = View.of(random_graph(1000, num_features=8))
    some, more = (expected_megabytes(view, Config.make(SMALL | {"num_capsules": k})) for k in (64, 256))
    assert more == pytest.approx(4 * some, rel=0.1)


def test_memory_is_near_the_measured_one(benchmark):
    """Within a fifth of what ``make bench`` found."""
    rows = pd.read_csv(Path(__file__).parents[2] / "results/benchmarks/memory.csv")
    for graph in ("cora", "pubmed", "squirrel"):
        (found,) = rows[(rows["graph"] == graph) & (rows["model"] == "NCGNN")]["peak_mb"]
        expected = expected_megabytes(View.of(load_dataset(graph)), measured(hops_of(graph)))
        assert expected == pytest.approx(found, rel=0.2)


def test_a_graph_in_blocks_takes_less_memory_and_more_time(clean, small, monkeypatch):
    view = View.of(clean)
    before, time = expected_megabytes(view, small), expected_cost(view, small).epoch_seconds
    monkeypatch.setattr(memory, "MOST_BYTES", 0)
    monkeypatch.setattr(memory, "_BLOCK", 0)
    monkeypatch.setattr(module, "_BLOCKS_TAKE", 100)
    assert expected_megabytes(view, small) < 0.9 * before
    assert expected_cost(view, small).epoch_seconds > 10 * time


def test_measured_time_and_memory_are_within_a_factor_of_two():
    """Of what ``python -m benchmarks.full_batch`` found."""
    rows = pd.read_csv(Path(__file__).parents[2] / "results/scale/full-batch.csv")
    assert len(rows) >= 2
    for what in ("mb", "epoch_cpu_s"):
        share = rows[f"expected_{what}"] / rows[f"measured_{what}"]
        assert share.between(0.5, 2).all()


def test_time_and_memory_of_batches_are_within_a_factor_of_two():
    """Of what ``python -m benchmarks.in_batches`` found."""
    rows = pd.read_csv(Path(__file__).parents[2] / "results/scale/in-batches.csv")
    rows = rows[rows["batch_nodes"].notna()]
    assert len(rows) >= 1
    for what in ("mb", "filter_cpu_s", "epoch_cpu_s"):
        share = rows[f"expected_{what}"] / rows[f"measured_{what}"]
        assert share.between(0.5, 2).all()
