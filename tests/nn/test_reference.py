"""The library computes the paper's equations: it agrees with the loop references in numbers and in gradients."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import scipy.stats
import torch

import ncgnn
import reference_numpy
import reference_torch

TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}
DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
NODES, FEATURES, K, PRIMARY, C, CLASS = 9, 5, 3, 4, 3, 5
ISOLATED = 8
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (4, 7), (3, 7), (0, 5)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost tiny tensors more than they give, most of all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Case(NamedTuple):
    """A filter of the library and the same filter in a reference module, as a function of A and zeta."""

    build: Callable
    reference: Callable
    hop_weights: Callable  # ξ as a function of zeta; None for an infinite sum
    num_hops: int = 0  # the length of zeta


def attention(hops, sparsify=None, form=None):
    return Case(
        lambda: ncgnn.AttentionFilter(hops=hops, sparsify=library_sparsify(sparsify), form=form),
        lambda module, adjacency, zeta: module.attention_filter(adjacency, hops, zeta, sparsify),
        reference_numpy.hop_weights,
        len(hops),
    )


def ppr(alpha, steps=None, sparsify=None, form=None):
    return Case(
        lambda: ncgnn.DiffusionFilter(alpha=alpha, steps=steps, sparsify=library_sparsify(sparsify), form=form),
        lambda module, adjacency, zeta: module.ppr_filter(adjacency, alpha, steps, sparsify),
        lambda zeta: None if steps is None else np.array([alpha * (1 - alpha) ** i for i in range(steps + 1)]),
    )


def heat(time, steps=None, sparsify=None, form=None):
    return Case(
        lambda: ncgnn.DiffusionFilter(
            kind="heat", time=time, steps=steps, sparsify=library_sparsify(sparsify), form=form
        ),
        lambda module, adjacency, zeta: module.heat_filter(adjacency, time, steps, sparsify),
        lambda zeta: None if steps is None else scipy.stats.poisson.pmf(range(steps + 1), time),
    )


def library_sparsify(sparsify):
    if sparsify is None:
        return None
    kind, value = sparsify
    return ncgnn.TopK(value) if kind == "top-k" else ncgnn.Threshold(value)


CASES = {
    "attention": attention(range(4)),
    "attention implicit": attention(range(4), form="implicit"),
    "attention explicit": attention(range(4), form="explicit"),
    "attention implicit, hops with gaps": attention((1, 2, 5), form="implicit"),
    "attention explicit, hops with gaps": attention((1, 2, 5), form="explicit"),
    "attention, hops out of order": attention((4, 0, 2)),
    "attention, one hop": attention((1,)),
    "attention top-k": attention(range(4), ("top-k", 3)),
    "attention top-k, k above N": attention(range(3), ("top-k", 50)),
    "attention threshold": attention(range(4), ("threshold", 0.15)),
    "attention threshold, empty rows": attention((1, 2, 3), ("threshold", 0.4)),
    "ppr": ppr(0.1),
    "ppr top-k": ppr(0.2, sparsify=("top-k", 3)),
    "ppr truncated": ppr(0.15, steps=4),
    "ppr truncated implicit": ppr(0.15, steps=4, form="implicit"),
    "ppr truncated explicit": ppr(0.15, steps=4, form="explicit"),
    "ppr truncated threshold": ppr(0.15, steps=4, sparsify=("threshold", 0.08)),
    "ppr truncated, no steps": ppr(0.3, steps=0),
    "heat": heat(2.0),
    "heat threshold": heat(3.0, sparsify=("threshold", 0.12)),
    "heat truncated": heat(2.0, steps=3),
    "heat truncated implicit": heat(2.0, steps=3, form="implicit"),
    "heat truncated explicit": heat(2.0, steps=3, form="explicit"),
    "heat truncated top-k": heat(1.0, steps=6, sparsify=("top-k", 4)),
}
FILTERS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
SOME_FILTERS = {name: CASES[name] for name in ("attention", "attention top-k", "attention threshold", "ppr", "heat")}


def graph(weighted):
    """Nine nodes, one of them isolated."""
    weights = np.random.default_rng(7).uniform(0.2, 2.0, len(EDGES)).astype(np.float32)
    adjacency = np.zeros((NODES, NODES))
    for (i, j), weight in zip(EDGES, weights, strict=True):
        adjacency[i, j] = adjacency[j, i] = weight if weighted else 1.0
    return adjacency


def features():
    """Bag-of-words like features, without any word for an isolated and for a connected node."""
    generator = torch.Generator().manual_seed(3)
    x = torch.rand(NODES, FEATURES, generator=generator) * (torch.rand(NODES, FEATURES, generator=generator) < 0.7)
    x[[2, ISOLATED]] = 0.0
    return x.double()


def random_model(case, dtype=torch.float64, **options):
    """A model all of whose parameters are random numbers; its first primary capsule is zero at some nodes."""
    options = {"num_capsules": K, "primary_channels": PRIMARY, "class_channels": CLASS, "dropout": 0.0} | options
    model = ncgnn.NCGNN(FEATURES, C, case.build(), **options)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        for layer in model.layers:
            layer.bias.mul_(0.3)
        model.primary.bias[0].sub_(1.5)
    return model.to(dtype)


def filter_of(model):
    kinds = (ncgnn.AttentionFilter, ncgnn.DiffusionFilter)
    (found,) = [module for module in model.modules() if isinstance(module, kinds)]
    return found


def parameters_of(model):
    """Copies of the model's parameters that a reference's `forward` takes, and the originals beside them in a list."""
    pairs = []

    def leaf(parameter):
        pairs.append((parameter, parameter.detach().double().clone().requires_grad_()))
        return pairs[-1][1]

    zeta = getattr(filter_of(model), "zeta", None)
    zeta = None if zeta is None else leaf(zeta)
    primary = (leaf(model.primary.weight), leaf(model.primary.bias))
    layers = [(leaf(layer.weight), leaf(layer.bias)) for layer in model.layers]
    return (zeta, primary, layers), pairs


def as_numpy(value):
    """Tensors inside tuples and lists as arrays."""
    if isinstance(value, tuple | list):
        return [as_numpy(item) for item in value]
    return value.detach().double().numpy() if isinstance(value, torch.Tensor) else value


def prepare(filt, adjacency, dtype):
    edge_index, edge_weight = reference_torch.edge_list(adjacency)
    weight = None if bool((edge_weight == 1).all()) else edge_weight.to(dtype)
    return filt.prepare(edge_index, len(adjacency), edge_weight=weight, dtype=dtype)


def assert_agree(actual, expected, tolerance, what):
    actual, expected = as_numpy(actual), as_numpy(expected)
    assert actual.shape == expected.shape, what
    error = np.abs(actual - expected).max() / max(1.0, np.abs(expected).max())
    assert error <= tolerance, f"{what} differs from the reference by {error:.3g}"


def assert_forward_agrees(library, loops, hop_weights, dtype):
    (scores, routing), (expected_scores, expected) = library, loops
    assert scores.dtype == dtype
    for name, actual, reference in [
        ("scores", scores, expected_scores),
        ("couplings", routing.couplings, expected.couplings),
        ("u", routing.u, expected.u),
        ("v", routing.capsules, expected.capsules),
    ]:
        assert_agree(actual, reference, TOLERANCE[dtype], name)
    if hop_weights is None:
        assert routing.hop_weights is None
    else:
        assert_agree(routing.hop_weights, hop_weights, TOLERANCE[dtype], "hop weights")


def assert_library_is_reference(case, dtype, weighted=False, prior=None, feature_layout=torch.Tensor.clone, **options):
    """Forward numbers are those of the loops, and every parameter's gradient that of autograd through plain torch."""
    options = {"iterations": 3, "beta": 1.0} | options
    adjacency, x = graph(weighted), features()
    model = random_model(case, dtype, **options)
    (zeta, primary, layers), pairs = parameters_of(model)
    assert {id(parameter) for parameter, _ in pairs} == {id(parameter) for parameter in model.parameters()}
    call = {"iterations": options["iterations"], "beta": options["beta"], "prior": prior}

    library_prior = None if prior is None else prior.to(dtype)
    operator = prepare(filter_of(model), adjacency, dtype)
    library = model(feature_layout(x.to(dtype)), operator, prior=library_prior, return_routing=True)
    a_bar = case.reference(reference_numpy, adjacency, as_numpy(zeta))
    loops_call = call | {"prior": as_numpy(prior)}
    loops = reference_numpy.forward(as_numpy(x), a_bar, as_numpy(primary), as_numpy(layers), **loops_call)
    assert_forward_agrees(library, loops, case.hop_weights(as_numpy(zeta)), dtype)

    scores, _ = reference_torch.forward(x, case.reference(reference_torch, adjacency, zeta), primary, layers, **call)
    direction = torch.randn(scores.shape, generator=torch.Generator().manual_seed(11))
    (library[0] * direction.to(dtype)).sum().backward()
    (scores * direction.double()).sum().backward()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for parameter, leaf in pairs:
        assert_agree(parameter.grad, leaf.grad, TOLERANCE[dtype], f"gradient of {names[id(parameter)]}")


def random_reference_arguments(capsules=(K, C), channels=(PRIMARY, CLASS)):
    """(weight, bias) of the primary capsules and of each layer, without the library."""
    generator = torch.Generator().manual_seed(5)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    primary = (draw(capsules[0], channels[0], FEATURES), draw(capsules[0], channels[0]))
    primary[1][0] -= 1.5
    steps = range(len(capsules) - 1)
    layers = [
        (draw(capsules[i], channels[i], capsules[i + 1], channels[i + 1]), draw(capsules[i + 1], channels[i + 1]))
        for i in steps
    ]
    return primary, layers


# The references themselves


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


# The filters


@DTYPES
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@FILTERS
def test_filter_matrix(case, weighted, dtype):
    filt = case.build().to(dtype)
    zeta = getattr(filt, "zeta", None)
    if zeta is not None:
        with torch.no_grad():
            zeta.copy_(torch.linspace(-1.0, 1.5, case.num_hops))
    expected = case.reference(reference_numpy, graph(weighted), as_numpy(zeta))
    a_bar = filt(prepare(filt, graph(weighted), dtype))
    assert_agree(a_bar.to_dense(), expected, TOLERANCE[dtype], "filter")
    p = torch.randn(NODES, 4, generator=torch.Generator().manual_seed(6)).to(dtype)
    assert_agree(a_bar @ p, expected @ as_numpy(p), TOLERANCE[dtype], "filtered features")


def star(n):
    adjacency = np.zeros((n, n))
    adjacency[0, 1:] = adjacency[1:, 0] = 1.0
    return adjacency


def ring(n):
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


def complete(n):
    return np.ones((n, n)) - np.eye(n)


@DTYPES
@pytest.mark.parametrize("sparsify", [("top-k", 1), ("top-k", 2), ("top-k", 4), ("threshold", 1 / 3)], ids=str)
@pytest.mark.parametrize("shape", [star, ring, complete])
def test_entries_that_tie_with_the_limit_are_all_kept(shape, sparsify, dtype):
    # Each row of a ring's Ã holds 1/3 three times: a tie at k = 1 and 2, and with a threshold of 1/3.
    for case in (attention((0, 1, 2, 3), sparsify), ppr(0.1, 5, sparsify), heat(1.5, None, sparsify)):
        filt = case.build().to(dtype)
        zeta = as_numpy(getattr(filt, "zeta", None))
        expected = case.reference(reference_numpy, shape(7), zeta)
        actual = filt(prepare(filt, shape(7), dtype)).to_dense()
        assert_agree(actual, expected, TOLERANCE[dtype], "filter")
        np.testing.assert_array_equal(as_numpy(actual) != 0, expected != 0)


@pytest.mark.parametrize("case", SOME_FILTERS.values(), ids=SOME_FILTERS.keys())
def test_self_loops_of_the_graph_are_no_edges(case):
    # A is the matrix of a graph without self-loops, as in the paper's table 1; the formula adds one to each node.
    adjacency = graph(weighted=True)
    filt = case.build().double()
    expected = case.reference(reference_numpy, adjacency, as_numpy(getattr(filt, "zeta", None)))
    adjacency[1, 1], adjacency[ISOLATED, ISOLATED] = 0.7, 2.0
    assert_agree(filt(prepare(filt, adjacency, torch.float64)).to_dense(), expected, 1e-9, "filter")


def test_the_prior_of_the_attention_is_the_start_of_zeta():
    prior = [0.5, -1.0, 2.0]
    filt = ncgnn.AttentionFilter(hops=(0, 1, 3), prior=prior).double()
    assert filt.zeta.tolist() == prior
    expected = reference_numpy.attention_filter(graph(True), (0, 1, 3), prior)
    assert_agree(filt(prepare(filt, graph(True), torch.float64)).to_dense(), expected, 1e-9, "filter")


def test_attention_starts_equal_without_a_prior():
    assert ncgnn.AttentionFilter(hops=(0, 1, 3)).zeta.tolist() == [0.0, 0.0, 0.0]


# The model


@DTYPES
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@FILTERS
def test_model_with_every_filter(case, weighted, dtype):
    assert_library_is_reference(case, dtype, weighted=weighted)


@DTYPES
@pytest.mark.parametrize("beta", [1.0, 4.0], ids="beta {}".format)
@pytest.mark.parametrize("hidden", [(), ((4, 3),), ((2, 5), (4, 3))], ids=["one layer", "two layers", "three layers"])
@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 5])
def test_routing_iterations_and_layers(iterations, hidden, beta, dtype):
    options = {"iterations": iterations, "hidden": hidden, "beta": beta}
    assert_library_is_reference(CASES["attention"], dtype, weighted=True, **options)


@DTYPES
@pytest.mark.parametrize("name", SOME_FILTERS)
def test_two_layers_share_the_filter(name, dtype):
    assert_library_is_reference(CASES[name], dtype, hidden=((4, 3),), beta=2.0)


PRIORS = {"every node's own": (NODES, K, C), "of capsules and classes": (K, C), "of capsules": (K, 1)}


@DTYPES
@pytest.mark.parametrize("iterations", [1, 4])
@pytest.mark.parametrize("shape", PRIORS.values(), ids=PRIORS.keys())
@pytest.mark.parametrize("name", ["attention", "attention top-k", "ppr"])
def test_prior_of_the_couplings(name, shape, iterations, dtype):
    prior = torch.randn(shape, generator=torch.Generator().manual_seed(8)).double()
    assert_library_is_reference(CASES[name], dtype, prior=prior, iterations=iterations, beta=0.5)


@DTYPES
def test_prior_belongs_to_the_class_layer(dtype):
    prior = torch.randn(NODES, 4, C, generator=torch.Generator().manual_seed(8)).double()
    assert_library_is_reference(CASES["attention"], dtype, prior=prior, hidden=((4, 3),))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
@DTYPES
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", SOME_FILTERS)
def test_sparse_features(name, weighted, dtype):
    layout = torch.Tensor.to_sparse_csr
    assert_library_is_reference(CASES[name], dtype, weighted=weighted, feature_layout=layout, iterations=2)


@pytest.mark.parametrize("name", SOME_FILTERS)
def test_edges_and_prepared_operator_give_the_same_scores(name):
    model = random_model(CASES[name])
    edge_index, edge_weight = reference_torch.edge_list(graph(weighted=True))
    scores = model(features(), prepare(filter_of(model), graph(weighted=True), torch.float64))
    assert_agree(model(features(), edge_index, edge_weight), scores, 1e-12, "scores")


def test_dropout_is_off_in_evaluation():
    options = {"iterations": 3, "beta": 1.5}
    model = random_model(CASES["attention"], dropout=0.9, **options)
    operator = prepare(filter_of(model), graph(True), torch.float64)
    (zeta, primary, layers), _ = parameters_of(model)
    a_bar = reference_numpy.attention_filter(graph(True), range(4), as_numpy(zeta))
    expected, _ = reference_numpy.forward(as_numpy(features()), a_bar, as_numpy(primary), as_numpy(layers), **options)
    assert np.abs(as_numpy(model.train()(features(), operator)) - expected).max() > 1e-3
    assert_agree(model.eval()(features(), operator), expected, 1e-9, "scores")


@pytest.mark.parametrize("name", SOME_FILTERS)
def test_gradient_of_the_features(name):
    case, options = CASES[name], {"iterations": 3, "beta": 1.0}
    model = random_model(case, **options)
    (zeta, primary, layers), _ = parameters_of(model)
    x, expected_x = features().requires_grad_(), features().requires_grad_()
    model(x, prepare(filter_of(model), graph(True), torch.float64))[:, 1].sum().backward()
    a_bar = case.reference(reference_torch, graph(True), zeta)
    reference_torch.forward(expected_x, a_bar, primary, layers, **options)[0][:, 1].sum().backward()
    assert_agree(x.grad, expected_x.grad, 1e-9, "gradient of the features")


# The functions


@pytest.mark.parametrize("margins", [{}, {"m_plus": 0.8, "m_minus": 0.25, "lam": 0.3}], ids=["default", "other"])
def test_margin_loss(margins):
    generator = torch.Generator().manual_seed(9)
    scores = torch.rand(20, C, generator=generator, dtype=torch.float64, requires_grad=True)
    copy = scores.detach().clone().requires_grad_()
    y = torch.randint(C, (20,), generator=generator)
    loss = ncgnn.margin_loss(scores, y, **margins)
    assert loss.item() == pytest.approx(reference_numpy.margin_loss(as_numpy(scores), y.numpy(), **margins), rel=1e-12)
    loss.backward()
    reference_torch.margin_loss(copy, y, **margins).backward()
    assert_agree(scores.grad, copy.grad, 1e-12, "gradient of the scores")


def test_training_step_through_the_margin_loss():
    case, options, labelled = CASES["attention"], {"iterations": 3, "beta": 1.0}, torch.tensor([0, 2, 5, ISOLATED])
    y = torch.arange(NODES) % C
    model = random_model(case, **options)
    (zeta, primary, layers), pairs = parameters_of(model)
    scores = model(features(), prepare(filter_of(model), graph(True), torch.float64))
    ncgnn.margin_loss(scores[labelled], y[labelled]).backward()
    a_bar = case.reference(reference_torch, graph(True), zeta)
    expected, _ = reference_torch.forward(features(), a_bar, primary, layers, **options)
    reference_torch.margin_loss(expected[labelled], y[labelled]).backward()
    for parameter, leaf in pairs:
        assert_agree(parameter.grad, leaf.grad, 1e-9, "gradient")


def test_squash():
    u = torch.randn(30, 4, generator=torch.Generator().manual_seed(10), dtype=torch.float64)
    u *= torch.logspace(-6, 4, 30, dtype=torch.float64)[:, None]
    u[3] = 0.0
    u.requires_grad_()
    copy = u.detach().clone().requires_grad_()
    v = ncgnn.squash(u)
    assert_agree(v, np.array([reference_numpy.squash(row) for row in as_numpy(u)]), 1e-12, "squash")
    assert not v[3].any()
    v[:, 0].sum().backward()
    reference_torch.squash(copy)[:, 0].sum().backward()
    assert_agree(u.grad, copy.grad, 1e-12, "gradient of squash")


def test_squash_of_a_hand_computed_capsule():
    # |u| = 5, so v = 25/26 of the unit vector (0.6, 0.8)
    expected = torch.tensor([[15 / 26, 20 / 26]], dtype=torch.float64)
    torch.testing.assert_close(ncgnn.squash(torch.tensor([[3.0, 4.0]], dtype=torch.float64)), expected)
