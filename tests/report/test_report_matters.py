from functools import cache

import pytest
import torch

from helpers.group_models import grouped_classifier, linked_graph
from helpers.small_models import FILTERS, SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, split_per_class
from ncgnn.explain import FeatureShares, Trace, make_targets, trace_scored
from ncgnn.explain.contributions import by_hop, of_bias
from ncgnn.report.matters import feature_shares, group_shares, hop_shares, matters

MASK = torch.arange(34) % 3 > 0


@cache
def trained(filter: str) -> Trace:
    """The forward pass of a model of the karate club, by the name of its filter."""
    data = split_per_class(load_dataset("karate"), train=3, val=8)
    return trace_scored(NCGNNClassifier(**SMALL, **FILTERS[filter], epochs=5).fit_scored(data))


@pytest.mark.parametrize("filter", FILTERS)
def test_the_features_of_a_class_are_those_of_its_nodes_added_up(filter):
    trace = trained(filter)
    shares, classes = FeatureShares(trace), trace.scores.argmax(dim=1)
    found = feature_shares(trace, MASK)
    for number in range(4):
        nodes = torch.nonzero(MASK & (classes == number)).flatten()
        parts = [shares(make_targets(trace, node[None], torch.tensor([number]))).features for node in nodes]
        expected = sum(parts, torch.zeros(34)) / trace.lengths[nodes, number].sum().clamp(min=1e-30)
        torch.testing.assert_close(found[number], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("filter", ["attention", "truncated", "exact", "attention, top 4"])
def test_hops_and_biases_add_up_to_one(filter):
    trace = trained(filter)
    targets = make_targets(trace, torch.nonzero(MASK).flatten(), trace.scores[MASK].argmax(dim=1))
    bias = float(of_bias(trace, targets).sum() / trace.lengths[MASK].amax(dim=1).sum())
    assert sum(hop_shares(trace, MASK).values()) + bias == pytest.approx(1, abs=1e-4)
    assert list(hop_shares(trace, MASK)) == list(by_hop(trace, targets))


def test_a_filter_that_is_no_sum_over_hops_has_none():
    assert hop_shares(trained("exact, top 4"), MASK) is None


def test_groups_and_biases_add_up_to_one_and_the_largest_is_first():
    data = linked_graph()
    scored = grouped_classifier(data, "all").scored(data)
    trace, mask = trace_scored(scored), torch.arange(40) % 3 > 0
    targets = make_targets(trace, torch.nonzero(mask).flatten(), trace.scores[mask].argmax(dim=1))
    bias = float(of_bias(trace, targets).sum() / trace.lengths[mask].amax(dim=1).sum())
    found = group_shares(trace, mask)
    assert sum(found.values()) + bias == pytest.approx(1, abs=1e-4)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert set(matters(scored).groups) == {"features", "links (in)", "features (out)", "beliefs"}
    assert group_shares(trained("attention"), MASK) is None


def test_features_of_all_groups_are_those_of_the_nodes_added_up():
    data = linked_graph()
    trace, mask = trace_scored(grouped_classifier(data, "all").scored(data)), torch.arange(40) % 3 > 0
    shares, classes, found = FeatureShares(trace), trace.scores.argmax(dim=1), feature_shares(trace, mask)
    for number in range(2):
        nodes = torch.nonzero(mask & (classes == number)).flatten()
        parts = [shares(make_targets(trace, node[None], torch.tensor([number]))).features for node in nodes]
        expected = sum(parts, torch.zeros(shares.columns.total)) / trace.lengths[nodes, number].sum().clamp(min=1e-30)
        torch.testing.assert_close(found[number], expected, atol=1e-5, rtol=1e-4)
