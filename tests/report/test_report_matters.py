from functools import cache

import pytest
import torch

from helpers.group_models import grouped_classifier, linked_graph
from helpers.small_models import FILTERS, SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, split_per_class
from ncgnn.explain import FeatureShares, Trace, make_targets, trace_scored
from ncgnn.explain.contributions import by_group, by_hop, by_node, of_bias
from ncgnn.explain.targets import Targets
from ncgnn.report.matters import feature_shares, group_shares, hop_shares, leads, matters, node_shares

MASK = torch.arange(34) % 3 > 0


@cache
def trained(filter: str) -> Trace:
    """The forward pass of a model of the karate club, by the name of its filter."""
    data = split_per_class(load_dataset("karate"), train=3, val=8)
    return trace_scored(NCGNNClassifier(**SMALL, **FILTERS[filter], epochs=5).fit_scored(data))


def leads_of(trace: Trace, nodes: torch.Tensor, first: int, second: int) -> Targets:
    """The leads of one class over another."""
    return make_targets(trace, nodes, torch.full_like(nodes, first), torch.full_like(nodes, second))


def check_features(trace: Trace, mask: torch.Tensor) -> None:
    """The shares of the features of each class are those of its nodes, added up one by one."""
    shares, best = FeatureShares(trace), trace.scores.topk(2, dim=1).indices
    found = list(feature_shares(trace, mask, shares))
    assert [first for first, *_ in found] == best[mask, 0].unique().tolist()
    for first, second, parts in found:
        nodes = torch.nonzero(mask & (best[:, 0] == first)).flatten()
        assert (best[nodes, 1] == second).sum() == best[nodes, 1].bincount().max()
        targets = leads_of(trace, nodes, first, second)
        each = [shares(targets[i : i + 1]) for i in range(len(nodes))]
        features = sum((one.features for one in each), torch.zeros(shares.columns.total))
        bias = sum(one.bias for one in each) + of_bias(trace, targets).sum()
        torch.testing.assert_close(parts, features / (features.abs().sum() + bias.abs()), atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("filter", FILTERS)
def test_the_features_of_a_class_are_those_of_its_nodes_added_up(filter):
    check_features(trained(filter), MASK)


def test_features_of_all_groups_are_those_of_the_nodes_added_up():
    data = linked_graph()
    check_features(trace_scored(grouped_classifier(data, "all").scored(data)), torch.arange(40) % 3 > 0)


def test_shares_of_nodes_and_biases_are_those_of_the_leads_and_add_up_to_one():
    trace = trained("attention")
    own, others, bias = node_shares(trace, MASK)
    targets = leads(trace, MASK)
    parts = by_node(trace, targets)
    expected = parts[torch.arange(len(targets)), targets.nodes].abs().sum()
    whole = parts.abs().sum() + of_bias(trace, targets).abs().sum()
    assert own == pytest.approx(float(expected / whole), abs=1e-5)
    assert own + others + bias == pytest.approx(1)


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
    targets = leads(trace, mask)
    parts, bias = by_group(trace, targets).abs(), of_bias(trace, targets).abs().sum()
    found = group_shares(trace, mask)
    assert sum(found.values()) == pytest.approx(float(parts.sum() / (parts.sum() + bias)), abs=1e-5)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert set(matters(scored).groups) == {group.words for group in trace.groups}
    assert group_shares(trained("attention"), MASK) is None
