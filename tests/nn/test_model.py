from math import sqrt

import pytest
import torch

import ncgnn
from ncgnn.nn import CapsuleGraphLayer, route

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return ncgnn.NCGNN(4, 3, ncgnn.AttentionFilter(hops=range(3)), num_capsules=2, primary_channels=6, dropout=0.5)


def test_starting_anew_gives_a_new_start(model):
    before = {name: value.clone() for name, value in model.named_parameters()}
    with torch.no_grad():
        for value in model.parameters():
            value.add_(1.0)
    torch.manual_seed(0)
    model.reset_parameters()
    assert all(torch.equal(value, before[name]) for name, value in model.named_parameters())


@pytest.mark.parametrize(
    ("init", "bounds"),
    [("uniform", (1 / sqrt(500), 1 / sqrt(40))), ("glorot", (sqrt(6 / 540), sqrt(6 / 60)))],
)
def test_weights_start_between_the_bounds_of_their_start(init, bounds):
    """500 features to capsules of 40 entries, and these to class capsules of 20."""
    torch.manual_seed(0)
    model = ncgnn.NCGNN(500, 3, ncgnn.AttentionFilter([1, 2]), primary_channels=40, class_channels=20, init=init)
    (layer,) = model.layers
    assert isinstance(layer, CapsuleGraphLayer)
    for weight, bound in zip((model.primary.weight, layer.weight), bounds, strict=True):
        assert 0.99 * bound < weight.abs().max() <= bound
        assert abs(weight.mean()) < 0.02 * bound


def test_an_unknown_start_is_refused():
    with pytest.raises(ValueError, match="init must be 'uniform' or 'glorot', not 'zero'"):
        ncgnn.NCGNN(5, 3, ncgnn.AttentionFilter([1, 2]), init="zero")


def test_a_prepared_filter_takes_no_weights_and_fits_one_number_of_nodes(model):
    prepared = model.filter.prepare(PATH, 3)
    with pytest.raises(ValueError, match=r"filter\.prepare"):
        model(torch.ones(3, 4), prepared, torch.ones(4))
    with pytest.raises(ValueError, match="prepared for 3 nodes, x has 5"):
        model(torch.ones(5, 4), prepared)


def test_prepared_and_unprepared_edges_give_the_same_scores(model):
    model.eval()
    x, weight = torch.randn(3, 4), torch.rand(4)
    prepared = model.filter.prepare(PATH, 3, weight)
    assert torch.equal(model(x, PATH, weight), model(x, prepared))


@pytest.mark.parametrize("sparse", [False, True])
def test_plain_and_fused_model_give_the_same_scores_and_gradients(model, sparse):
    model.double().eval()
    x = torch.rand(3, 4, dtype=torch.float64)
    fused = model(x.to_sparse_csr() if sparse else x, PATH)
    layer, a_bar = model.layers[0], model.filter(model.filter.prepare(PATH, 3, dtype=torch.float64))
    plain = route(layer.votes(model.primary.plain(x)), a_bar, layer.bias, layer.iterations).capsules.norm(dim=-1)
    torch.testing.assert_close(fused, plain, atol=1e-12, rtol=0)
    parameters = list(model.parameters())
    for one, other in zip(
        torch.autograd.grad(fused.square().sum(), parameters),
        torch.autograd.grad(plain.square().sum(), parameters),
        strict=True,
    ):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_the_gradient_of_the_features_is_there_when_wanted(model):
    x = torch.rand(3, 4, requires_grad=True)
    model(x, PATH).sum().backward()
    assert x.grad.abs().sum() > 0


@pytest.mark.parametrize("training", [True, False])
def test_on_a_cpu_the_compiled_kernels_are_taken(model, monkeypatch, training):
    called = []
    for place in ("ncgnn.nn.routing.fused_route", "ncgnn.nn.capsules.fused_votes", "ncgnn.nn.capsules.fused_capsules"):
        module, _, name = place.rpartition(".")
        real = getattr(__import__(module, fromlist=[name]), name)

        def noted(*arguments, real=real, name=name):
            called.append(name)
            return real(*arguments)

        monkeypatch.setattr(place, noted)
    monkeypatch.setattr("ncgnn.nn.routing.route", lambda *a: pytest.fail("plain routing"))
    monkeypatch.setattr(type(model.primary), "plain", lambda *a: pytest.fail("plain capsules"))
    model.train(training)(torch.ones(3, 4), PATH)
    assert called == (["fused_votes", "fused_route"] if training else ["fused_capsules", "fused_route"])


def test_a_layer_takes_a_plain_matrix_as_its_filter():
    layer = ncgnn.CapsuleGraphLayer(2, 4, 3, 5)
    h, matrix = torch.rand(6, 2, 4), torch.rand(6, 6)
    torch.testing.assert_close(layer(h, matrix).capsules, layer(h, matrix.to_sparse_csr()).capsules)


def test_layers_print_what_they_were_made_with(model):
    text = repr(model)
    rates = "dropout=0.5, init='uniform', early_dropout=0.0, feature_dropout=0.0"
    assert f"PrimaryCapsules(4, num_capsules=2, channels=6, {rates})" in text
    assert "CapsuleGraphLayer(2, 6, 3, 16, iterations=3, beta=1.0, init='uniform')" in text


def test_routing_needs_an_iteration():
    with pytest.raises(ValueError, match="at least one iteration"):
        ncgnn.CapsuleGraphLayer(2, 4, 3, 5, iterations=0)


@pytest.mark.parametrize("wrong", [{"dropout": 1.0}, {"dropout": -0.1}, {"num_capsules": 0}])
def test_senseless_sizes_are_refused(wrong):
    with pytest.raises(ValueError, match="at least 1 and dropout from 0 to below 1"):
        ncgnn.NCGNN(4, 3, ncgnn.AttentionFilter(), **wrong)


def test_a_filter_is_a_filter():
    with pytest.raises(TypeError, match=r"must be a GraphFilter, .* not 'attention'"):
        ncgnn.NCGNN(4, 3, "attention")


def test_names_come_when_asked_for_and_only_those():
    assert "NCGNNClassifier" in dir(ncgnn)
    with pytest.raises(AttributeError, match="no attribute 'Missing'"):
        _ = ncgnn.Missing
