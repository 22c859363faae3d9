"""The library's model agrees with the loop references in numbers and in gradients."""

import numpy as np
import pytest
import torch

from helpers import reference_numpy, reference_torch
from helpers.filter_cases import (
    CASES,
    DTYPES,
    FILTERS,
    NODES,
    SOME_FILTERS,
    C,
    K,
    as_numpy,
    assert_agree,
    features,
    graph,
    prepare,
)
from helpers.reference_models import assert_library_is_reference, filter_of, parameters_of, random_model


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
