"""Products that are asked for again before the weights have changed."""

from torch import Tensor

from ncgnn.sparse import pool
from ncgnn.sparse.operator import LinearOperator


class Reused(LinearOperator):
    """A fixed matrix that keeps its last product: validation computes ``X W``, and the next step of training finds it.

    The product is computed anew once the other factor is another tensor or was changed in place. It is given away
    with the second request, as the caller may write into it.
    """

    def __init__(self, operator: LinearOperator) -> None:
        self.operator = operator
        self._factor: tuple[int, int] | None = None
        self._kept: Tensor | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.operator.shape

    @property
    def parameter(self) -> Tensor:
        return self.operator.parameter

    def product(self, dense: Tensor) -> Tensor:
        factor, kept = (dense.data_ptr(), dense._version), self._kept
        self._kept = None
        if kept is not None and factor == self._factor:
            return kept
        del kept  # its memory serves for the next
        product = self.operator.product(dense)
        self._factor, self._kept = factor, pool.empty(product, *product.shape).copy_(product)
        return product

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        return self.operator.gradients(dense, grad, of_parameter)
