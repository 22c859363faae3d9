"""The paper's propositions and the method's invariants, on random graphs."""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ncgnn
import reference_numpy
from reference_torch import edge_list

FEATURES, K, PRIMARY, C, CLASS = 4, 3, 4, 3, 5
examples = settings(max_examples=25, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 2**31 - 1)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost tiny tensors more than they give, most of all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@st.composite
def graphs(draw, smallest=3, largest=9, weighted=None):
    """Symmetric adjacencies without self-loops, of any density, isolated nodes included."""
    n = draw(st.integers(smallest, largest))
    upper = np.triu_indices(n, 1)
    present = draw(st.lists(st.booleans(), min_size=len(upper[0]), max_size=len(upper[0])))
    adjacency = np.zeros((n, n))
    adjacency[upper] = present
    if draw(st.booleans()) if weighted is None else weighted:
        adjacency[upper] *= np.random.default_rng(draw(seeds)).uniform(0.1, 3.0, len(upper[0]))
    return adjacency + adjacency.T


@st.composite
def graphs_with_ties(draw):
    """Stars, rings and complete graphs: many entries of a row of Ã^i are equal."""
    n = draw(st.integers(4, 9))
    kind = draw(st.sampled_from(["star", "ring", "complete"]))
    adjacency = np.zeros((n, n))
    if kind == "star":
        adjacency[0, 1:] = 1.0
    elif kind == "ring":
        adjacency = np.roll(np.eye(n), 1, axis=1)
    else:
        adjacency = np.triu(np.ones((n, n)), 1)
    return adjacency + adjacency.T


@st.composite
def attention_filters(draw, sparsify=None, form=None):
    """Any set of hops up to 6, gaps included, with any attention to them."""
    hops = sorted(draw(st.sets(st.integers(0, 6), min_size=1, max_size=4)))
    zeta = np.random.default_rng(draw(seeds)).normal(size=len(hops)).tolist()
    return ncgnn.AttentionFilter(hops=hops, prior=zeta, sparsify=sparsify, form=form).double()


def truncated_diffusions(form=None):
    alphas, times, steps = st.floats(0.05, 0.9), st.floats(0.1, 4.0), st.integers(0, 6)
    ppr = st.builds(lambda alpha, p: ncgnn.DiffusionFilter(alpha=alpha, steps=p, form=form), alphas, steps)
    heat = st.builds(lambda t, p: ncgnn.DiffusionFilter(kind="heat", time=t, steps=p, form=form), times, steps)
    return ppr | heat


def exact_diffusions():
    ppr = st.builds(lambda alpha: ncgnn.DiffusionFilter(alpha=alpha), st.floats(0.05, 0.9))
    return ppr | st.builds(lambda t: ncgnn.DiffusionFilter(kind="heat", time=t), st.floats(0.1, 4.0))


def sparsifications():
    """Top-k, and thresholds among them that rows of rings and complete graphs tie with."""
    limits = st.floats(0.05, 0.4) | st.sampled_from([1 / n for n in range(3, 9)])
    return st.builds(lambda k: ncgnn.TopK(k), st.integers(1, 4)) | st.builds(lambda e: ncgnn.Threshold(e), limits)


@st.composite
def sparsified_filters(draw):
    sparsify = draw(sparsifications())
    if draw(st.booleans()):
        return draw(attention_filters(sparsify=sparsify))
    return ncgnn.DiffusionFilter(alpha=0.2, steps=draw(st.sampled_from([None, 3])), sparsify=sparsify)


def prepare(filt, adjacency, dtype=torch.float64):
    edge_index, edge_weight = edge_list(adjacency)
    return filt.prepare(edge_index, len(adjacency), edge_weight=edge_weight.to(dtype), dtype=dtype)


def dense(filt, adjacency):
    return filt(prepare(filt, adjacency)).to_dense().detach()


def laplacian(adjacency):
    return torch.eye(len(adjacency), dtype=torch.float64) - torch.from_numpy(
        reference_numpy.normalized_adjacency(adjacency)
    )


def random_features(n, seed):
    return torch.randn(n, FEATURES, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def random_model(filt, seed, scale=1.0, **options):
    """Random numbers for all parameters of the capsules; the filter keeps its own."""
    options = {"num_capsules": K, "primary_channels": PRIMARY, "class_channels": CLASS, "dropout": 0.0} | options
    model = ncgnn.NCGNN(FEATURES, C, filt, **options).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in (model.primary, *model.layers):
            for parameter in module.parameters():
                parameter.copy_(scale * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def assert_close(actual, expected, tolerance):
    torch.testing.assert_close(actual, expected, rtol=0.0, atol=tolerance)


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
