"""The implicit form of a graph filter: a polynomial in a sparse matrix, applied hop after hop and never built."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.sparse.csr import CSR, product


@dataclass(frozen=True, eq=False)
class Polynomial:
    r"""The operator :math:`\sum_i \xi_i \mathbf{A}^i`, ``coefficients`` [degree + 1] holding :math:`\xi`.

    Its product costs ``degree`` products with the one-hop matrix, whatever the density of the powers.
    """

    base: CSR
    coefficients: Tensor

    def __matmul__(self, dense: Tensor) -> Tensor:
        out: Tensor = _PolynomialProduct.apply(self.coefficients, dense.flatten(1), self.base)
        return out.view(dense.shape)

    def to_dense(self) -> Tensor:
        return self @ torch.eye(self.base.shape[0], dtype=self.coefficients.dtype, device=self.coefficients.device)


class _PolynomialProduct(torch.autograd.Function):
    """Keeps the input alone: with ``w_i = (A^T)^i g``, the gradients are ``sum_i xi_i w_i`` and ``<w_i, p>``."""

    @staticmethod
    def forward(ctx: Any, coefficients: Tensor, p: Tensor, base: CSR) -> Tensor:
        ctx.save_for_backward(coefficients, p)
        ctx.base = base
        return _weighted_powers(base, coefficients, p)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        coefficients, p = ctx.saved_tensors
        transposed = ctx.base.T
        if not ctx.needs_input_grad[0]:
            return None, _weighted_powers(transposed, coefficients, grads[0]), None
        w, grad_p, grad_xi = grads[0], coefficients[0] * grads[0], [(grads[0] * p).sum()]
        for xi in coefficients[1:]:
            w = product(transposed, w)
            grad_p.addcmul_(xi, w)
            grad_xi.append((w * p).sum())
        return torch.stack(grad_xi), grad_p, None


def _weighted_powers(matrix: CSR, coefficients: Tensor, p: Tensor) -> Tensor:
    """Horner's rule: ``(((xi_I A + xi_{I-1}) A + ...) A + xi_0) p``."""
    out = coefficients[-1] * p
    for xi in coefficients[:-1].flip(0):
        out = product(matrix, out).addcmul_(xi, p)
    return out
