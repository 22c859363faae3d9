import pytest
import torch

import ncgnn
from helpers.small_models import FILTERS, small_model
from ncgnn.explain import FeatureShares, by_node, make_targets, of_bias, trace_model

CLOSE = {"atol": 1e-5, "rtol": 1e-5}


@pytest.mark.parametrize("filter", FILTERS)
def test_features_and_biases_add_up_to_the_score(trained, filter):
    trace = trained("karate", filter)
    shares = FeatureShares(trace)
    for node in range(0, 34, 5):
        for number in range(4):
            target = make_targets(trace, torch.tensor([node]), torch.tensor([number]))
            share = shares(target)
            total = share.features.sum() + share.bias + of_bias(trace, target)[0]
            torch.testing.assert_close(total, trace.lengths[node, number], **CLOSE)


def test_features_add_up_where_there_are_many(trained):
    trace = trained("syn-cora", "attention")
    target = make_targets(trace, torch.tensor([7]), torch.tensor([0]), torch.tensor([1]))
    share = FeatureShares(trace)(target)
    total = share.features.sum() + share.bias + of_bias(trace, target)[0]
    torch.testing.assert_close(total, trace.lengths[7, 0] - trace.lengths[7, 1], **CLOSE)


def test_features_of_nodes_add_up_to_both_the_nodes_and_the_features(edges):
    filter = ncgnn.AttentionFilter([0, 1, 2])
    trace = trace_model(small_model(filter), torch.rand(5, 6), filter.prepare(edges, 5))
    target = make_targets(trace, torch.tensor([2]), torch.tensor([1]))
    shares = FeatureShares(trace)
    share = shares(target)
    table = shares.of_nodes(share.heard, torch.arange(5))
    torch.testing.assert_close(table.sum(dim=0), share.features, **CLOSE)
    bias = share.heard[0].at(torch.arange(5)) @ trace.model.primary.bias.detach().flatten()
    torch.testing.assert_close(table.sum(dim=1) + bias, by_node(trace, target)[0], **CLOSE)


def test_sparse_features_give_what_dense_ones_give(edges):
    filter, x = ncgnn.DiffusionFilter(steps=3), torch.rand(5, 6) * (torch.rand(5, 6) > 0.5)
    found = []
    for features in (x, x.to_sparse_csr()):
        trace = trace_model(small_model(filter), features, filter.prepare(edges, 5))
        target = make_targets(trace, torch.tensor([0]), torch.tensor([0]))
        shares = FeatureShares(trace)
        found.append((shares(target).features, shares.of_nodes(shares(target).heard, torch.tensor([3, 1]))))
    torch.testing.assert_close(found[0], found[1], **CLOSE)


def test_a_feature_contributes_what_the_linear_capsule_loses_without_it(edges):
    """With gates and norms as they were, the score along its direction without a feature is lower by its part."""
    filter, x = ncgnn.AttentionFilter([0, 1]), torch.rand(5, 6)
    trace = trace_model(small_model(filter), x, filter.prepare(edges, 5))
    target = make_targets(trace, torch.tensor([1]), torch.tensor([0]))
    shares = FeatureShares(trace)
    without = x.clone()
    without[:, 4] = 0
    model = trace.model
    with torch.no_grad():
        h = shares.gates * ((without @ shares.w_dot).view(5, 3, 4) + model.primary.bias)
        p = torch.einsum("jkl,jkq,kqlf->jlf", trace.routing.couplings, h, model.layers[0].weight)
        u = (trace.a_bar @ p.flatten(1)).view_as(p) + trace.bias
    lost = trace.lengths[1, 0] - target.along(u)[0]
    torch.testing.assert_close(shares(target).features[4], lost, **CLOSE)
