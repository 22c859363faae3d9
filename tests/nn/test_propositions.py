"""The paper's propositions, on random graphs."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ncgnn
from helpers import reference_numpy
from helpers.drawn_models import (
    C,
    K,
    assert_close,
    attention_filters,
    dense,
    exact_diffusions,
    examples,
    graphs,
    graphs_with_ties,
    laplacian,
    prepare,
    random_features,
    random_model,
    seeds,
    sparsified_filters,
    truncated_diffusions,
)
from helpers.reference_torch import edge_list

# Proposition 1: the filter is a polynomial of the Laplacian


@examples
@given(filt=attention_filters() | truncated_diffusions(), adjacency=graphs())
def test_spectral_coefficients_rebuild_the_filter(filt, adjacency):
    theta = filt.spectral_coefficients()
    polynomial = sum(t * torch.linalg.matrix_power(laplacian(adjacency), j) for j, t in enumerate(theta))
    assert_close(polynomial.detach(), dense(filt, adjacency), 1e-9)


@examples
@given(filt=attention_filters() | truncated_diffusions() | exact_diffusions(), adjacency=graphs())
def test_spectral_response_rebuilds_the_filter(filt, adjacency):
    eigenvalues, vectors = torch.linalg.eigh(laplacian(adjacency))
    response = filt.spectral_response(eigenvalues).detach()
    assert_close(vectors @ torch.diag(response) @ vectors.T, dense(filt, adjacency), 1e-9)


@examples
@given(hops=st.sets(st.integers(0, 6), min_size=1), seed=seeds)
def test_spectral_coefficients_are_those_of_the_binomial_theorem(hops, seed):
    hops = sorted(hops)
    zeta = np.random.default_rng(seed).normal(size=len(hops))
    filt = ncgnn.AttentionFilter(hops=hops).double()
    with torch.no_grad():
        filt.zeta.copy_(torch.from_numpy(zeta))
    expected = np.zeros(hops[-1] + 1)
    for i, xi in zip(hops, reference_numpy.hop_weights(zeta), strict=True):
        for j in range(i + 1):
            expected[j] += (-1) ** j * math.comb(i, j) * xi
    assert filt.spectral_coefficients().tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@examples
@given(filt=sparsified_filters())
def test_sparsified_filters_have_no_spectral_coefficients(filt):
    with pytest.raises(ValueError, match=r"sparsified|infinite"):
        filt.spectral_coefficients()


@pytest.mark.parametrize("kind", ["ppr", "heat"])
def test_infinite_sums_have_no_spectral_coefficients(kind):
    filt = ncgnn.DiffusionFilter(kind=kind)
    with pytest.raises(ValueError, match="infinite"):
        filt.spectral_coefficients()


# Proposition 2: the numbering of the nodes does not matter


def assert_relabelling_permutes_the_output(filt, adjacency, seed, **options):
    n = len(adjacency)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    x, model = random_features(n, seed), random_model(filt, seed, **options)
    scores, routing = model(x, prepare(filt, adjacency), return_routing=True)
    relabelled = adjacency[np.ix_(order.numpy(), order.numpy())]
    new_scores, new_routing = model(x[order], prepare(filt, relabelled), return_routing=True)
    assert_close(new_scores, scores[order], 1e-9)
    assert_close(new_routing.couplings, routing.couplings[order], 1e-9)
    assert_close(new_routing.capsules, routing.capsules[order], 1e-9)


@examples
@given(filt=attention_filters() | truncated_diffusions() | exact_diffusions(), adjacency=graphs(), seed=seeds)
def test_relabelling_the_nodes_permutes_the_output(filt, adjacency, seed):
    assert_relabelling_permutes_the_output(filt, adjacency, seed, hidden=((2, 3),))


@examples
@given(filt=sparsified_filters(), adjacency=graphs() | graphs_with_ties(), seed=seeds)
def test_relabelling_the_nodes_permutes_the_output_of_sparsified_filters(filt, adjacency, seed):
    assert_relabelling_permutes_the_output(filt, adjacency, seed)


@examples
@given(adjacency=graphs_with_ties(), k=st.integers(1, 4), seed=seeds)
def test_relabelling_permutes_the_output_where_entries_tie_at_the_kth_place(adjacency, k, seed):
    filt = ncgnn.AttentionFilter(hops=range(4), sparsify=ncgnn.TopK(k))
    assert_relabelling_permutes_the_output(filt, adjacency, seed)


@examples
@given(adjacency=graphs(), seed=seeds)
def test_the_order_of_the_edges_does_not_matter(adjacency, seed):
    model = random_model(ncgnn.AttentionFilter(hops=range(4), sparsify=ncgnn.TopK(2)), seed)
    edge_index, edge_weight = edge_list(adjacency)
    order = torch.randperm(len(edge_weight), generator=torch.Generator().manual_seed(seed))
    x = random_features(len(adjacency), seed)
    assert_close(model(x, edge_index[:, order], edge_weight[order]), model(x, edge_index, edge_weight), 1e-9)


# Proposition 3: the sum aggregator is a special case


@examples
@given(
    filt=attention_filters() | truncated_diffusions() | exact_diffusions() | sparsified_filters(),
    adjacency=graphs(),
    iterations=st.integers(1, 5),
    beta=st.floats(0.1, 20.0),
    seed=seeds,
)
def test_equal_capsules_and_weights_sum_over_the_neighbourhood(filt, adjacency, iterations, beta, seed):
    model = random_model(filt, seed, iterations=iterations, beta=beta)
    with torch.no_grad():
        model.primary.weight.copy_(model.primary.weight[:1].expand_as(model.primary.weight))
        model.primary.bias.copy_(model.primary.bias[:1].expand_as(model.primary.bias))
        weight = model.layers[0].weight
        weight.copy_(weight[:1, :, :1, :].expand_as(weight))
        model.layers[0].bias.zero_()
    x = random_features(len(adjacency), seed)
    h = reference_numpy.primary_capsules(
        x.numpy(), model.primary.weight.detach().numpy(), model.primary.bias.detach().numpy()
    )
    summed = dense(filt, adjacency) @ torch.from_numpy(h[:, 0]) @ weight[0, :, 0, :].detach()
    _, routing = model(x, prepare(filt, adjacency), return_routing=True)
    assert_close(routing.u.detach(), summed[:, None].expand(-1, C, -1), 1e-9)
    assert_close(routing.couplings.detach(), torch.full_like(routing.couplings, 1 / K), 1e-12)
