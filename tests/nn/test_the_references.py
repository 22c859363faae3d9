"""The two references agree with each other, in numbers and in slopes."""

import pytest
import torch

from helpers import reference_numpy, reference_torch
from helpers.filter_cases import (
    CASES,
    CLASS,
    FILTERS,
    ISOLATED,
    NODES,
    PRIMARY,
    C,
    K,
    as_numpy,
    assert_agree,
    features,
    graph,
)
from helpers.reference_models import random_model, random_reference_arguments


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@FILTERS
def test_both_references_build_the_same_filter(case, weighted):
    zeta = torch.linspace(-1.0, 1.5, case.num_hops, dtype=torch.float64)
    loops = case.reference(reference_numpy, graph(weighted), zeta.numpy())
    assert_agree(case.reference(reference_torch, graph(weighted), zeta), loops, 1e-12, "filter")


@pytest.mark.parametrize("capsules", [(K, C), (K, 2, C)], ids=["one layer", "two layers"])
@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 5])
def test_both_references_route_alike(iterations, capsules):
    primary, layers = random_reference_arguments(capsules, (PRIMARY, 3, CLASS)[-len(capsules) :])
    x, a_bar = features(), reference_torch.ppr_filter(graph(weighted=True), 0.1)
    prior = torch.randn(NODES, capsules[-2], C, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    plain_scores, plain = reference_torch.forward(x, a_bar, primary, layers, iterations, 2.5, prior)
    scores, loops = reference_numpy.forward(
        *(as_numpy(value) for value in (x, a_bar, primary, layers)), iterations, 2.5, as_numpy(prior)
    )
    assert_agree(plain_scores, scores, 1e-12, "scores")
    for name, actual, expected in zip(loops._fields, plain, loops, strict=True):
        assert_agree(actual, expected, 1e-12, name)


def test_the_torch_references_gradient_is_the_slope_of_the_loops():
    primary, layers = random_reference_arguments()
    leaves = [p.requires_grad_() for pair in (primary, *layers) for p in pair]
    zeta = torch.tensor([0.5, -0.3, 0.8], dtype=torch.float64, requires_grad=True)
    scores, _ = reference_torch.forward(
        features(), reference_torch.attention_filter(graph(True), range(3), zeta), primary, layers, 3, 2.0
    )
    y = torch.arange(NODES) % C
    reference_torch.margin_loss(scores, y).backward()
    generator = torch.Generator().manual_seed(4)
    leaves.append(zeta)
    directions = [torch.randn(p.shape, generator=generator, dtype=torch.float64) for p in leaves]

    def loss(step):
        moved = [as_numpy(p + step * d) for p, d in zip(leaves, directions, strict=True)]
        a_bar = reference_numpy.attention_filter(graph(True), range(3), moved[-1])
        scores, _ = reference_numpy.forward(as_numpy(features()), a_bar, moved[:2], [moved[2:4]], 3, 2.0)
        return reference_numpy.margin_loss(scores, y.numpy())

    slope = sum(float((p.grad * d).sum()) for p, d in zip(leaves, directions, strict=True))
    assert slope == pytest.approx((loss(1e-5) - loss(-1e-5)) / 2e-5, rel=1e-7)


def test_the_compared_graph_has_an_isolated_node_zero_features_and_zero_capsules():
    adjacency, x = graph(weighted=True), features()
    model = random_model(CASES["attention"])
    h = reference_numpy.primary_capsules(x.numpy(), as_numpy(model.primary.weight), as_numpy(model.primary.bias))
    zero = (h == 0).all(axis=2)
    assert not adjacency[ISOLATED].any()
    assert not x[ISOLATED].any()
    assert zero.any()
    assert not zero.all(axis=1).any()
