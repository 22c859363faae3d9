"""Votes in blocks of nodes: the same scores and gradients as with those of all nodes at once."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import ncgnn
from ncgnn.memory import available_bytes
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
    return with_gradients(model, model(x, prepared))


def with_gradients(model, scores):
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


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("number", [1, 2, 3], ids=["features", "and links", "and beliefs"])
@pytest.mark.parametrize("iterations", [1, 3])
def test_scores_of_some_nodes_and_their_gradients(iterations, number, is_large, monkeypatch):
    model = a_model(further_groups()[: number - 1], dropout=0.7, iterations=iterations).train()
    links, known = (torch.rand(N, N) < 0.1).double().to_sparse_csr(), torch.zeros(N, C).double()
    inputs = [torch.randn(N, F).double(), links, known][:number]
    prepared = [group.filter.prepare(EDGES, N, dtype=torch.float64) for group in model.groups]
    targets = torch.tensor([33, 4, 59])
    if is_large:
        monkeypatch.setattr(module, "MOST_BYTES", 0)
        monkeypatch.setattr(blocks, "_ENTRIES", 7 * 2 * C * SIZE)
    torch.manual_seed(2)
    expected = with_gradients(model, model(inputs, prepared)[targets])
    torch.manual_seed(2)
    check_equal(expected, with_gradients(model, model(inputs, prepared, targets=targets)))


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


@pytest.mark.parametrize("groups", [(), further_groups()], ids=["one", "groups"])
def test_reasons_are_those_of_votes_computed_at_once(groups, monkeypatch):
    model = a_model(groups).eval()
    links = (torch.rand(N, N) < 0.1).double().to_sparse_csr()
    inputs = [torch.randn(N, F).double(), links, torch.eye(C).repeat(N // C, 1).double()][: len(model.groups)]
    prepared = [group.filter.prepare(EDGES, N, dtype=torch.float64) for group in model.groups]
    with torch.no_grad():
        scores, whole = model(inputs, prepared, return_routing=True)
        monkeypatch.setattr(module, "MOST_BYTES", 0)
        monkeypatch.setattr(blocks, "_ENTRIES", 7 * 2 * C * SIZE)
        again, in_blocks = model(inputs, prepared, return_routing=True)
    check_equal([scores, whole.votes, whole.couplings], [again, in_blocks.votes, in_blocks.couplings])


A_MILLION = """
import torch
import ncgnn
from ncgnn.bench.memory import peak_memory
from ncgnn.data.graph import make_graph

n = 1_000_000
x, y = torch.randn(n, 4), torch.randint(3, (n,))
data = ncgnn.split_per_class(make_graph("million", x, torch.empty(2, 0, dtype=torch.long), y), train=20, val=50)
ncgnn.NCGNNClassifier(epochs=2).fit(data)
print(peak_memory() * 2**20)
"""


@pytest.mark.long
@pytest.mark.skipif(available_bytes() < 4e9, reason="needs 4 GB of free memory")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a child's own peak is not known")
def test_a_million_nodes_train_in_3_gb():
    done = subprocess.run([sys.executable, "-c", A_MILLION], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 3 * 2**30
