import pytest
import torch
from benchmarks import roofline
from benchmarks.roofline import Cost, Peak, Sizes

from ncgnn.models.ncgnn.config import Config

SMALL = Config(hops=1, num_capsules=1, primary_channels=1, class_channels=1, iterations=1, dropout=0.0)


def test_the_least_time_is_that_of_the_slower_of_memory_and_arithmetic():
    peak = Peak(bandwidth=2, flops=10)
    assert peak.least_ms(Cost(bytes=4e6, flops=1e6)) == pytest.approx(2)
    assert peak.least_ms(Cost(bytes=4e6, flops=5e7)) == pytest.approx(5)


def test_costs_of_one_node_with_one_of_everything(karate):
    """Counted by hand: one node, feature, capsule, class and channel; a graph that is one self-loop."""
    costs = roofline.stages(Sizes(1, 1, 4, 1, 1, 1, SMALL))
    assert costs["first product"] == (4 + 8, 2)
    assert costs["votes"] == (12, 3 + 1)  # half the entries survive ReLU
    assert costs["mean"] == (12, 2)  # reads the vote, writes c and p
    assert costs["propagate"] == (4 + 8 + 8, 2)  # row pointer, index and value, message in and out
    assert costs["squash"] == (12, 5)
    assert costs["optimiser"] == (7 * 4 * 2, 24)
    assert costs["agree and select"] == (0, 0)
    assert len(costs) == 13


def test_each_iteration_after_the_first_reads_the_votes_once_more():
    """Votes, b in and out, c; message, u and p."""
    twice = roofline.stages(Sizes(1, 1, 4, 1, 1, 1, SMALL.model_copy(update={"iterations": 2})))
    assert twice["agree and select"] == (4 * (1 + 3 + 3), 4 + 5 + 5)
    assert twice["agree and select, backward"] == (4 * (1 + 3 + 3), 4 + 5 + 8)


def test_sparse_features_cost_their_entries(karate):
    dense, sparse = karate.clone(), karate.clone()
    dense.x = torch.ones(34, 50)
    sparse.x = torch.zeros(34, 50)
    sparse.x[0, 0] = 1
    assert Sizes.of(dense, SMALL).x_bytes == 34 * 50 * 4
    assert Sizes.of(sparse, SMALL).x_bytes == 8 + 34 * 4
    assert Sizes.of(sparse, SMALL).a_entries == 2 * 78 + 34


def test_the_whole_step_is_the_sum_of_its_stages(karate):
    peak = roofline.measure_peak(lambda text: None, size=64, megabytes=1)
    assert min(peak) > 0
    *stages, whole = roofline.measure(karate, Config(hops=2), peak, 1, lambda text: None)
    assert whole["stage"] == "whole step"
    assert whole["least_ms"] == pytest.approx(sum(row["least_ms"] for row in stages), abs=1e-3)
    assert whole["share"] == pytest.approx(whole["least_ms"] / whole["step_ms"], abs=1e-3)
