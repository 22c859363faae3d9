"""Cache the last product until the weights change."""

from torch import Tensor

from ncgnn.sparse import pool
from ncgnn.sparse.operator import LinearOperator


class Reused(LinearOperator):
    """A fixed matrix that caches its last product: validation computes ``X W``, and the next training step reuses it.

    The product is recomputed if the other factor is another tensor or was changed in place. The cache is handed over on
    the second request, because the caller may write into it.
    """

    def __init__(self, operator: LinearOperator) -> None:
        self.operator = operator
        self._factor: Tensor | None = None  # kept alive, so that no other tensor gets its memory
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
        del kept  # its memory is reused for the next
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
