"""Votes in blocks of nodes: the same scores and gradients as with those of all nodes at once."""

import pytest
import torch

import ncgnn
from ncgnn.nn import Beliefs, CapsuleGroup, PrimaryCapsules
from ncgnn.nn import model as module
from ncgnn.nn.kernels import blocks
from ncgnn.sparse import Reused, as_operator

N, F, C, SIZE = 60, 5, 3, 4
EDGES = torch.randint(N, (2, 150), generator=torch.Generator().manual_seed(0))
EDGES = torch.cat([EDGES, EDGES.flip(0)], dim=1)


def a_model(groups=(), **options):
    torch.manual_seed(0)
    sizes = {"num_capsules": 2, "primary_channels": 6, "class_channels": SIZE, "beta": 3.0}
    model = ncgnn.NCGNN(F, C, ncgnn.AttentionFilter([0, 1, 3]), groups=groups, **sizes, **options)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model.double()


def further_groups():
    return [
        CapsuleGroup("links", PrimaryCapsules(N, 3, 6, dropout=0.6), ncgnn.AttentionFilter([0, 1])),
        Beliefs(C, SIZE, ncgnn.AttentionFilter([1], has_loops=False)),
    ]


def scores_and_gradients(model, x, prepared):
    torch.manual_seed(2)
    scores = model(x, prepared)
    weight = torch.randn(scores.shape, generator=torch.Generator().manual_seed(3)).double()
    return [scores.detach(), *torch.autograd.grad((scores * weight).sum(), list(model.parameters()))]


def both_ways(model, x, monkeypatch):
    prepared = [group.filter.prepare(EDGES, N, dtype=torch.float64) for group in model.groups]
    whole = scores_and_gradients(model, x, prepared)
    monkeypatch.setattr(module, "MOST_BYTES", 0)
    monkeypatch.setattr(blocks, "_ENTRIES", 7 * 2 * C * SIZE)  # blocks of seven nodes, and less with more capsules
    return whole, scores_and_gradients(model, x, prepared)


def check_equal(whole, in_blocks):
    for expected, found in zip(whole, in_blocks, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-11)


@pytest.mark.parametrize("iterations", [1, 2, 4])
@pytest.mark.parametrize(
    ("training", "options"),
    [
        (False, {}),
        (True, {"dropout": 0.0}),
        (True, {"dropout": 0.8}),
        (True, {"dropout": 0.8, "feature_dropout": 0.3}),
    ],
)
def test_scores_and_gradients_are_those_of_all_nodes_at_once(training, options, iterations, monkeypatch):
    model = a_model(iterations=iterations, **options).train(training)
    x = torch.randn(N, F).double()
    check_equal(*both_ways(model, [x], monkeypatch))


@pytest.mark.parametrize("training", [False, True])
def test_so_are_those_of_groups_and_beliefs(training, monkeypatch):
    model = a_model(further_groups(), dropout=0.7).train(training)
    links = (torch.rand(N, N) < 0.1).double().to_sparse_csr()
    known = torch.eye(C).repeat(N // C, 1).double() * (torch.arange(N) < 20)[:, None]
    check_equal(*both_ways(model, [Reused(as_operator(torch.randn(N, F).double())), links, known], monkeypatch))


@pytest.mark.parametrize("options", [{"dropout": 0.3}, {"dropout": 0.8, "early_dropout": 0.2}])
def test_a_block_has_the_same_dropout_in_every_pass(options, monkeypatch):
    model = a_model(**options).train()
    x, prepared = torch.randn(N, F).double(), model.filter.prepare(EDGES, N, dtype=torch.float64)
    monkeypatch.setattr(module, "MOST_BYTES", 0)
    monkeypatch.setattr(blocks, "_ENTRIES", 7 * 2 * C * SIZE)

    def scores(weight):
        torch.manual_seed(2)
        with torch.no_grad():
            model.primary.bias.copy_(weight)
        return model(x, prepared)[:4].sum()

    bias, step = model.primary.bias.detach().clone(), 1e-6
    (slope,) = torch.autograd.grad(scores(bias), model.primary.bias)
    shift = torch.zeros_like(bias)
    shift[0, 1] = step
    measured = (scores(bias + shift) - scores(bias - shift)) / (2 * step)
    assert slope[0, 1].item() == pytest.approx(measured.item(), rel=1e-4, abs=1e-7)
    assert measured.abs() > 1e-4


def test_frozen_weights_get_no_gradient(monkeypatch):
    model = a_model(dropout=0.8).train()
    model.primary.weight.requires_grad_(False)
    monkeypatch.setattr(module, "MOST_BYTES", 0)
    model(torch.randn(N, F).double(), model.filter.prepare(EDGES, N, dtype=torch.float64)).sum().backward()
    assert model.primary.weight.grad is None
    assert model.primary.bias.grad.abs().sum() > 0


def test_gradients_of_blocks_are_computed_once(monkeypatch):
    model = a_model(dropout=0.8).train()
    monkeypatch.setattr(module, "MOST_BYTES", 0)
    loss = model(torch.randn(N, F).double(), model.filter.prepare(EDGES, N, dtype=torch.float64)).sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="only once"):
        loss.backward()
