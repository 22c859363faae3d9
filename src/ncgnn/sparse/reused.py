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
        self._factor: Tensor | None = None  # held, so that no other tensor gets its memory
        self._version = 0
        self._kept: Tensor | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.operator.shape

    @property
    def parameter(self) -> Tensor:
        return self.operator.parameter

    def product(self, dense: Tensor) -> Tensor:
        kept, self._kept = self._kept, None
        if kept is not None and self._is_factor(dense):
            return kept
        del kept  # its memory serves for the next
        product = self.operator.product(dense)
        self._kept = pool.empty(product, *product.shape).copy_(product)
        self._factor, self._version = dense.detach(), dense._version
        return product

    def _is_factor(self, dense: Tensor) -> bool:
        before = self._factor
        same_memory = before is not None and before.data_ptr() == dense.data_ptr() and before.shape == dense.shape
        return same_memory and self._version == dense._version

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        return self.operator.gradients(dense, grad, of_parameter)
