import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.autograd import gradcheck

from ncgnn.nn.kernels.routing import fused_route
from ncgnn.nn.routing import route
from ncgnn.sparse import CSR, Dense, HopBank, Polynomial

N, K, C, SIZE = 9, 4, 3, 5


def random_operator(kind: str, dtype: torch.dtype = torch.float64):
    rng = np.random.default_rng(1)
    parts = [sp.csr_matrix(rng.random((N, N)) * (rng.random((N, N)) < 0.4)) for _ in range(2)]
    parameter = torch.tensor([0.3, 0.5, 0.2], dtype=dtype, requires_grad=True)
    if kind == "polynomial":
        return parameter, lambda xi: Polynomial(CSR.from_scipy(parts[0], dtype), xi)
    if kind == "bank":
        return parameter, lambda xi: HopBank.from_scipy(parts, dtype).combine(xi[:2])
    matrix = torch.from_numpy(parts[0].toarray()).to(dtype).requires_grad_()
    return matrix, Dense


def random_votes(dtype: torch.dtype = torch.float64):
    generator = torch.Generator().manual_seed(0)
    votes = torch.randn(N, K, C, SIZE, dtype=dtype, generator=generator, requires_grad=True)
    bias = torch.randn(C, SIZE, dtype=dtype, generator=generator, requires_grad=True)
    prior = torch.randn(K, C, dtype=dtype, generator=generator, requires_grad=True)
    return votes, bias, prior


@pytest.mark.parametrize(("dtype", "error"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize("kind", ["polynomial", "bank", "dense"])
def test_fused_routing_equals_plain_routing_and_so_do_its_gradients(kind, iterations, with_prior, dtype, error):
    parameter, make = random_operator(kind, dtype)
    votes, bias, prior = random_votes(dtype)
    prior = prior if with_prior else None
    plain = route(votes, make(parameter), bias, iterations, 1.7, prior)
    v, c, u = fused_route(votes, make(parameter), bias, iterations, 1.7, prior)
    for fused, expected in ((v, plain.capsules), (c, plain.couplings), (u, plain.u)):
        torch.testing.assert_close(fused, expected, atol=error, rtol=0)
    with torch.no_grad():  # where no iteration but the last is kept
        predicted = fused_route(votes, make(parameter), bias, iterations, 1.7, prior)
    for one, other in zip(predicted, (v, c, u), strict=True):
        assert torch.equal(one, other)
    inputs = [votes, bias, parameter, *([prior] if with_prior else [])]
    weight = torch.randn_like(v)
    gradients = torch.autograd.grad((v * weight).sum(), inputs)
    plain_gradients = torch.autograd.grad((plain.capsules * weight).sum(), inputs)
    for gradient, wanted in zip(gradients, plain_gradients, strict=True):
        torch.testing.assert_close(gradient, wanted, atol=error, rtol=error)


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("kind", ["polynomial", "bank", "dense"])
def test_a_last_iteration_for_some_nodes_gives_their_capsules_and_gradients(kind, iterations):
    parameter, make = random_operator(kind)
    votes, bias, _ = random_votes()
    nodes = torch.tensor([7, 2])
    last = make(parameter).take(nodes)
    whole = route(votes, make(parameter), bias, iterations, 1.7)
    plain = route(votes, make(parameter), bias, iterations, 1.7, last=last)
    v, c, u = fused_route(votes, make(parameter), bias, iterations, 1.7, None, last=last)
    with torch.no_grad():
        predicted, _, _ = fused_route(votes, make(parameter), bias, iterations, 1.7, None, last=last)
    assert torch.equal(predicted, v)
    for fused, one, of_all in (
        (v, plain.capsules, whole.capsules[nodes]),
        (c, plain.couplings, whole.couplings),
        (u, plain.u, whole.u[nodes]),
    ):
        torch.testing.assert_close(fused, of_all, atol=1e-12, rtol=0)
        torch.testing.assert_close(one, of_all, atol=1e-12, rtol=0)
    inputs, weight = [votes, bias, parameter], torch.randn_like(v)
    expected = torch.autograd.grad((whole.capsules[nodes] * weight).sum(), inputs)
    for found in (v, plain.capsules):
        gradients = torch.autograd.grad((found * weight).sum(), inputs, retain_graph=True)
        for gradient, wanted in zip(gradients, expected, strict=True):
            torch.testing.assert_close(gradient, wanted, atol=1e-12, rtol=1e-12)


def test_fused_routing_in_float32_stays_near_plain_routing_in_float64():
    votes, bias, _ = random_votes()
    xi, make = random_operator("polynomial")
    single, make_single = random_operator("polynomial", torch.float32)
    exact = route(votes, make(xi), bias, 3, 1.0)
    v, _, _ = fused_route(votes.float(), make_single(single), bias.float(), 3, 1.0, None)
    torch.testing.assert_close(v.double(), exact.capsules, atol=1e-5, rtol=0)


def test_gradcheck_of_fused_routing():
    parameter, make = random_operator("polynomial")
    votes, bias, prior = random_votes()

    def capsules(votes, bias, prior, xi):
        return fused_route(votes, make(xi), bias, 3, 2.0, prior)[0]

    assert gradcheck(capsules, (votes, bias, prior, parameter))


def test_votes_of_zero_give_neither_nan_scores_nor_nan_gradients():
    votes = torch.zeros(N, K, C, SIZE, requires_grad=True)
    bias = torch.zeros(C, SIZE, requires_grad=True)
    v, c, _ = fused_route(votes, Dense(torch.eye(N)), bias, 3, 1.0, None)
    v.sum().backward()
    assert torch.equal(v, torch.zeros_like(v))
    assert torch.allclose(c, torch.full_like(c, 1 / K))
    assert torch.isfinite(votes.grad).all()
    assert torch.isfinite(bias.grad).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_couplings_of_huge_agreement_do_not_overflow(dtype):
    votes, bias, _ = random_votes(dtype)
    _, c, _ = fused_route(votes * 100, Dense(torch.eye(N, dtype=dtype)), bias, 3, 1e4, None)
    assert torch.isfinite(c).all()
    torch.testing.assert_close(c.sum(dim=1), torch.ones(N, C, dtype=dtype))


def test_a_graph_without_nodes_has_no_capsules():
    votes, bias = torch.empty(0, K, C, SIZE, requires_grad=True), torch.zeros(C, SIZE, requires_grad=True)
    v, c, _ = fused_route(votes, Dense(torch.empty(0, 0)), bias, 3, 1.0, None)
    assert (v.shape, c.shape) == ((0, C, SIZE), (0, K, C))
    v.sum().backward()
    assert not bias.grad.any()


@pytest.mark.parametrize("kind", ["permuted", "integer"])
def test_a_prior_may_have_any_layout_and_type(kind):
    votes, bias, _ = random_votes()
    permuted = torch.randn(C, K, N, dtype=torch.float64).permute(2, 1, 0)
    prior = permuted if kind == "permuted" else (permuted * 3).long()
    _, make = random_operator("polynomial")
    a_bar = make(torch.tensor([0.3, 0.5, 0.2], dtype=torch.float64))
    expected = route(votes, a_bar, bias, 4, 1.0, prior.double().contiguous())
    _, c, _ = fused_route(votes, a_bar, bias, 4, 1.0, prior)
    torch.testing.assert_close(c, expected.couplings, atol=1e-12, rtol=0)
