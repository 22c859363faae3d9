"""What holds of the method on every graph, and of one model on several."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ncgnn
from helpers.drawn_models import (
    FEATURES,
    C,
    K,
    assert_close,
    attention_filters,
    examples,
    graphs,
    prepare,
    random_features,
    random_model,
    seeds,
    sparsified_filters,
)
from helpers.reference_torch import edge_list

# Invariants of the routing


@examples
@given(
    filt=attention_filters() | sparsified_filters(),
    adjacency=graphs(),
    iterations=st.integers(1, 5),
    beta=st.sampled_from([1.0, 50.0, 1e4]),
    prior_scale=st.sampled_from([None, 1.0, 300.0]),
    scale=st.sampled_from([0.1, 1.0, 20.0]),
    seed=seeds,
)
def test_couplings_sum_to_one_over_a_nodes_capsules_and_scores_stay_below_one(
    filt, adjacency, iterations, beta, prior_scale, scale, seed
):
    n = len(adjacency)
    model = random_model(filt, seed, scale=scale, iterations=iterations, beta=beta)
    generator = torch.Generator().manual_seed(seed)
    prior = None
    if prior_scale is not None:
        prior = prior_scale * torch.randn(n, K, C, generator=generator, dtype=torch.float64)
    scores, routing = model(random_features(n, seed), prepare(filt, adjacency), prior=prior, return_routing=True)
    assert routing.couplings.shape == (n, K, C)
    assert (routing.couplings >= 0).all()
    assert_close(routing.couplings.sum(dim=1), torch.ones(n, C, dtype=torch.float64), 1e-12)
    assert (scores >= 0).all()
    assert (scores < 1).all()
    assert_close(scores, routing.capsules.norm(dim=-1), 1e-12)


# Two routes to the same filter


FORMS = {
    "attention": lambda form: ncgnn.AttentionFilter(hops=(0, 1, 2, 4), prior=[0.3, -1.0, 0.8, 0.1], form=form),
    "ppr": lambda form: ncgnn.DiffusionFilter(alpha=0.15, steps=6, form=form),
    "heat": lambda form: ncgnn.DiffusionFilter(kind="heat", time=2.0, steps=6, form=form),
}


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)], ids=str)
@pytest.mark.parametrize("build", FORMS.values(), ids=FORMS.keys())
@examples
@given(adjacency=graphs(), seed=seeds)
def test_implicit_and_explicit_filter_agree(build, dtype, tolerance, adjacency, seed):
    p = random_features(len(adjacency), seed).clamp(-1, 1).to(dtype)
    filters = [build(form).to(dtype) for form in ("implicit", "explicit")]
    implicit, explicit = (filt(prepare(filt, adjacency, dtype)) for filt in filters)
    assert_close((implicit @ p).detach(), (explicit @ p).detach(), tolerance)
    assert_close(implicit.to_dense().detach(), explicit.to_dense().detach(), tolerance)


# One model, several graphs


EVERY_FILTER = {
    "attention": lambda: ncgnn.AttentionFilter(hops=range(3)),
    "attention explicit": lambda: ncgnn.AttentionFilter(hops=range(3), form="explicit"),
    "top-k": lambda: ncgnn.AttentionFilter(hops=range(3), sparsify=ncgnn.TopK(3)),
    "threshold": lambda: ncgnn.AttentionFilter(hops=range(3), sparsify=ncgnn.Threshold(0.1)),
    "ppr": lambda: ncgnn.DiffusionFilter(alpha=0.1),
    "ppr truncated": lambda: ncgnn.DiffusionFilter(alpha=0.1, steps=4),
    "heat": lambda: ncgnn.DiffusionFilter(kind="heat", time=2.0),
}
each_filter = pytest.mark.parametrize("build", EVERY_FILTER.values(), ids=EVERY_FILTER.keys())


def rings():
    """Two rings over the same eight nodes, in another order: as many edges, other neighbours."""
    ring = torch.arange(8)
    other = torch.tensor([0, 3, 6, 1, 4, 7, 2, 5])
    return [
        torch.stack([torch.cat([nodes, nodes.roll(1)]), torch.cat([nodes.roll(1), nodes])]) for nodes in (ring, other)
    ]


@each_filter
def test_a_second_graph_does_not_meet_the_first_ones_filter(build):
    first, second = rings()
    x, model = random_features(8, 0), random_model(build(), 1)
    before, between, after = model(x, first), model(x, second), model(x, first)
    torch.testing.assert_close(after, before, rtol=0.0, atol=0.0)
    assert (between - before).abs().max() > 1e-3
    torch.testing.assert_close(between, random_model(build(), 1)(x, second), rtol=0.0, atol=0.0)


@each_filter
def test_edges_changed_in_place_are_another_graph(build):
    first, second = rings()
    x, model = random_features(8, 0), random_model(build(), 1)
    expected = model(x, second.clone())
    edges = first.clone()
    model(x, edges)
    edges.copy_(second)
    torch.testing.assert_close(model(x, edges), expected, rtol=0.0, atol=0.0)


@each_filter
def test_other_weights_of_the_same_edges_are_another_graph(build):
    edges, _ = rings()
    x, model = random_features(8, 0), random_model(build(), 1)
    weight = torch.linspace(0.2, 2.0, 8, dtype=torch.float64).repeat(2)
    plain, weighted, again = model(x, edges), model(x, edges, weight), model(x, edges)
    torch.testing.assert_close(again, plain, rtol=0.0, atol=0.0)
    assert (weighted - plain).abs().max() > 1e-3


@examples
@given(first=graphs(5, 5), second=graphs(5, 5), seed=seeds)
def test_scores_of_a_graph_do_not_depend_on_the_graphs_before(first, second, seed):
    assume(not np.allclose(first, second, atol=0.05))
    model = random_model(ncgnn.AttentionFilter(hops=range(3)), seed)
    x = random_features(5, seed)
    (index_1, weight_1), (index_2, weight_2) = edge_list(first), edge_list(second)
    before, between, after = (
        model(x, index_1, weight_1),
        model(x, index_2, weight_2),
        model(x, index_1, weight_1),
    )
    assert_close(after, before, 0.0)
    assert (between - before).abs().max() > 1e-6


# Nothing breaks where there is nothing


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@each_filter
@settings(examples, max_examples=10)
@given(adjacency=graphs(), data=st.data(), seed=seeds)
def test_isolated_nodes_and_zero_features_give_no_nan(build, dtype, adjacency, data, seed):
    n = len(adjacency)
    isolated = data.draw(st.integers(0, n - 1))
    adjacency[isolated] = adjacency[:, isolated] = 0.0
    empty = data.draw(st.sets(st.integers(0, n - 1))) | {isolated}
    x = random_features(n, seed).abs().to(dtype)
    x[list(empty)] = 0.0
    filt = build()
    model = random_model(filt, seed, hidden=data.draw(st.sampled_from([(), ((2, 3),)]))).to(dtype)
    with torch.no_grad():
        model.primary.bias.zero_()
        for layer in model.layers:
            layer.bias.zero_()
    scores, routing = model(x, prepare(filt, adjacency, dtype), return_routing=True)
    assert (scores[isolated] == 0).all()
    ncgnn.margin_loss(scores, torch.arange(n) % C).backward()
    for value in (scores, routing.couplings, routing.u, routing.capsules):
        assert torch.isfinite(value).all()
    for name, parameter in model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name


@each_filter
def test_a_graph_without_edges_and_features_gives_zero_scores(build):
    model = random_model(build(), 0)
    with torch.no_grad():
        model.primary.bias.zero_()
        model.layers[0].bias.zero_()
    x = torch.zeros(5, FEATURES, dtype=torch.float64, requires_grad=True)
    scores = model(x, torch.empty(2, 0, dtype=torch.long))
    assert (scores == 0).all()
    ncgnn.margin_loss(scores, torch.arange(5) % C).backward()
    for name, parameter in model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name
