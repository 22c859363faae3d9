import pytest
import torch

from helpers.small_models import FILTERS
from ncgnn.explain import FeatureShares, make_targets
from ncgnn.explain.contributions import by_hop, of_bias
from ncgnn.explain.overall import feature_shares, hop_shares

MASK = torch.arange(34) % 3 > 0


@pytest.mark.parametrize("filter", FILTERS)
def test_the_features_of_a_class_are_those_of_its_nodes_added_up(trained, filter):
    trace = trained("karate", filter)
    shares, classes = FeatureShares(trace), trace.scores.argmax(dim=1)
    found = feature_shares(trace, MASK)
    for number in range(4):
        nodes = torch.nonzero(MASK & (classes == number)).flatten()
        parts = [shares(make_targets(trace, node[None], torch.tensor([number]))).features for node in nodes]
        expected = sum(parts, torch.zeros(34)) / max(1e-30, trace.lengths[nodes, number].sum())
        torch.testing.assert_close(found[number], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("filter", ["attention", "truncated", "exact", "attention, top 4"])
def test_hops_and_biases_add_up_to_one(trained, filter):
    trace = trained("karate", filter)
    targets = make_targets(trace, torch.nonzero(MASK).flatten(), trace.scores[MASK].argmax(dim=1))
    bias = float(of_bias(trace, targets).sum() / trace.lengths[MASK].amax(dim=1).sum())
    assert sum(hop_shares(trace, MASK).values()) + bias == pytest.approx(1, abs=1e-4)
    assert list(hop_shares(trace, MASK)) == list(by_hop(trace, targets))


def test_a_filter_that_is_no_sum_over_hops_has_none(trained):
    assert hop_shares(trained("karate", "exact, top 4"), MASK) is None
