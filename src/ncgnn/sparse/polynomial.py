"""The implicit form of a graph filter: a polynomial in a sparse matrix, applied hop by hop and never built."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ncgnn.sparse.csr import CSR
from ncgnn.sparse.operator import LinearOperator, Taken


@dataclass(frozen=True, eq=False)
class Polynomial(LinearOperator):
    r"""The operator :math:`\sum_i \xi_i \mathbf{A}^i`, ``coefficients`` [degree + 1] holding :math:`\xi`.

    Its product costs ``degree`` products with the one-hop matrix, regardless of the density of the powers.
    """

    base: CSR
    coefficients: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @property
    def parameter(self) -> Tensor:
        return self.coefficients

    def product(self, dense: Tensor) -> Tensor:
        return _horner(self.base, self.coefficients.detach(), dense)

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        r"""With :math:`\mathbf{w}_i = (\mathbf{A}^\top)^i \mathbf{g}` they are :math:`\langle \mathbf{w}_i, \mathbf{p}
        \rangle` and :math:`\sum_i \xi_i \mathbf{w}_i`: no power of the forward pass has to be kept."""
        xi = self.coefficients.detach()
        if not of_parameter:
            return None, _horner(self.base.T, xi, grad)
        w, of_dense, of_xi = grad, xi[0] * grad, [torch.dot(grad.flatten(), dense.flatten())]
        for i in range(1, len(xi)):
            w = self.base.T.product(w)
            of_dense.addcmul_(xi[i], w)
            of_xi.append(torch.dot(w.flatten(), dense.flatten()))
        return torch.stack(of_xi), of_dense

    def take(self, nodes: Tensor) -> LinearOperator:
        return PolynomialRows(self, nodes) if len(self.coefficients) > 1 else super().take(nodes)


class PolynomialRows(Taken):
    r"""Rows S of a polynomial: :math:`\xi_0 \mathbf{I}_S + \mathbf{A}_S \sum_{i \geq 1} \xi_i \mathbf{A}^{i - 1}`, so
    that the last product, and the first of the gradients, only take the entries of these rows."""

    def __init__(self, whole: Polynomial, nodes: Tensor) -> None:
        super().__init__(whole, nodes)
        self.whole = whole

    @cached_property
    def _base(self) -> CSR:
        return self.whole.base.take(self.nodes)

    @property
    def _rest(self) -> Polynomial:
        return Polynomial(self.whole.base, self.whole.coefficients[1:])

    def product(self, dense: Tensor) -> Tensor:
        own = self.whole.coefficients.detach()[0]
        return self._base.product(self._rest.product(dense)).addcmul_(own, dense[self.nodes])

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        of_rest, of_dense = self._rest.gradients(dense, self._base.T.product(grad), of_parameter)
        of_dense.index_add_(0, self.nodes, self.whole.coefficients.detach()[0] * grad)
        if of_rest is None:
            return None, of_dense
        of_own = torch.dot(grad.flatten(), dense[self.nodes].flatten())
        return torch.cat([of_own[None], of_rest]), of_dense


def _horner(matrix: CSR, xi: Tensor, p: Tensor) -> Tensor:
    """``(((xi_I A + xi_{I-1}) A + ...) A + xi_0) p``."""
    *first, factor = xi.tolist()
    out = p if first else p * factor
    for scale in reversed(first):
        out, factor = matrix.product_plus(factor, out, scale, p), 1.0
    return out
