import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.autograd import gradcheck

from ncgnn.sparse import CSR, HopBank, Polynomial


def random_matrix(rows: int, columns: int, seed: int = 0, density: float = 0.3) -> sp.csr_matrix:
    rng = np.random.default_rng(seed)
    return sp.csr_matrix(rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < density))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (1, 1), (6, 6)])
def test_product_equals_the_dense_one(shape, dtype):
    matrix = random_matrix(*shape)
    dense = torch.randn(shape[1], 4, dtype=dtype)
    product = CSR.from_scipy(matrix, dtype) @ dense
    expected = torch.from_numpy(matrix.toarray()).to(dtype) @ dense
    torch.testing.assert_close(product, expected)


def test_rows_without_entries_give_zeros():
    matrix = CSR.from_scipy(sp.csr_matrix((3, 3)), torch.float64)
    assert torch.equal(matrix @ torch.ones(3, 2, dtype=torch.float64), torch.zeros(3, 2, dtype=torch.float64))


def test_product_takes_operands_of_any_layout_and_rank():
    matrix = CSR.from_scipy(random_matrix(4, 6), torch.float64)
    strided = torch.randn(3, 6, dtype=torch.float64).t()
    torch.testing.assert_close(matrix @ strided, matrix @ strided.contiguous())
    cube = torch.randn(6, 2, 3, dtype=torch.float64)
    torch.testing.assert_close(matrix @ cube, torch.einsum("ij,jab->iab", matrix.to_dense(), cube))


def test_transpose_and_round_trip_through_torch():
    source = random_matrix(5, 8)
    matrix = CSR.from_scipy(source, torch.float64)
    np.testing.assert_array_equal(matrix.T.to_dense().numpy(), source.toarray().T)
    np.testing.assert_array_equal(CSR.from_torch(matrix.to_torch()).to_dense().numpy(), source.toarray())


def test_operands_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="cannot multiply"):
        CSR.from_scipy(random_matrix(4, 6), torch.float64) @ torch.ones(5, 2, dtype=torch.float64)


def test_gradient_of_the_product_in_both_factors():
    matrix = CSR.from_scipy(random_matrix(5, 7), torch.float64)
    values = matrix.values.clone().requires_grad_()
    dense = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda v, d: CSR(matrix.pattern, v) @ d, (values, dense))


@pytest.mark.parametrize("degree", [0, 1, 4])
def test_gradient_of_the_polynomial_in_coefficients_and_operand(degree):
    base = CSR.from_scipy(random_matrix(6, 6), torch.float64)  # not symmetric: the backward pass must transpose
    xi = torch.randn(degree + 1, dtype=torch.float64, requires_grad=True)
    dense = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda c, d: Polynomial(base, c) @ d, (xi, dense))
    assert gradcheck(lambda d: Polynomial(base, xi.detach()) @ d, (dense,))


def test_polynomial_equals_the_sum_of_dense_powers():
    matrix = random_matrix(6, 6)
    xi = torch.tensor([0.5, 0.0, -1.0, 2.0], dtype=torch.float64)
    dense = torch.from_numpy(matrix.toarray())
    expected = sum(c * torch.linalg.matrix_power(dense, i) for i, c in enumerate(xi))
    torch.testing.assert_close(Polynomial(CSR.from_scipy(matrix, torch.float64), xi).to_dense(), expected)


def test_bank_combines_matrices_of_different_patterns():
    parts = [random_matrix(6, 6, seed) for seed in range(3)]
    bank = HopBank.from_scipy(parts, torch.float64)
    xi = torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
    expected = sum(c.item() * part.toarray() for c, part in zip(xi, parts, strict=True))
    np.testing.assert_allclose(bank.combine(xi).to_dense().numpy(), expected, atol=1e-14)


def test_gradient_of_a_combined_bank():
    bank = HopBank.from_scipy([random_matrix(5, 5, seed) for seed in range(3)], torch.float64)
    xi = torch.randn(3, dtype=torch.float64, requires_grad=True)
    dense = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda c, d: bank.combine(c) @ d, (xi, dense))
