"""Rows of an operator: its products and gradients, without those of the other rows."""

import pytest
import scipy.sparse as sp
import torch

from ncgnn.sparse import CSR, ChebyshevSeries, Dense, Polynomial, pagerank_series

N = 7
NODES = torch.tensor([5, 0, 3])
BASE = CSR.from_scipy(sp.random(N, N, 0.4, random_state=0), torch.float64)
SYMMETRIC = CSR.from_scipy(sp.eye(N, k=1) / 2 + sp.eye(N, k=-1) / 2, torch.float64)
XI = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
MAKE = {
    "matrix": (BASE.values, lambda values: CSR(BASE.pattern, values)),
    "dense": (torch.rand(N, N, dtype=torch.float64), Dense),
    "polynomial": (XI, lambda xi: Polynomial(BASE, xi)),
    "the node itself": (XI[:1], lambda xi: Polynomial(BASE, xi)),
    "one hop": (XI[:2], lambda xi: Polynomial(BASE, xi)),
}


@pytest.mark.parametrize("kind", MAKE)
def test_products_and_gradients_are_those_of_the_rows(kind):
    parameter, make = MAKE[kind]
    parameter = parameter.clone().requires_grad_()
    dense = torch.rand(N, 2, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(len(NODES), 2, dtype=torch.float64)
    whole, some = make(parameter), make(parameter).take(NODES)
    assert some.shape == (len(NODES), N)
    expected, found = (whole @ dense)[NODES], some @ dense
    torch.testing.assert_close(found, expected, atol=1e-14, rtol=0)
    inputs = [parameter, dense]
    for one, other in zip(
        torch.autograd.grad((found * weight).sum(), inputs),
        torch.autograd.grad((expected * weight).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(one, other, atol=1e-14, rtol=0)


def test_pagerank_has_rows_though_it_has_no_matrix():
    series = ChebyshevSeries(SYMMETRIC, pagerank_series(0.2, torch.float64))
    dense = torch.rand(N, 2, dtype=torch.float64)
    torch.testing.assert_close(series.take(NODES) @ dense, (series @ dense)[NODES])
