"""Linear operators on node messages: ``operator @ p``, differentiable in ``p`` and in the operator's parameter."""

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.sparse import pool


def is_fused(tensor: Tensor) -> bool:
    """Whether compiled kernels support this input: on a CPU, unless the input needs a gradient."""
    return tensor.device.type == "cpu" and not tensor.requires_grad


class LinearOperator(ABC):
    """A matrix defined by its products. A subclass implements the product and its gradients outside autograd."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def parameter(self) -> Tensor:
        """Its values, or the coefficients of a polynomial; the matrix depends linearly on them."""

    @abstractmethod
    def product(self, dense: Tensor) -> Tensor:
        """``A @ dense`` for ``dense`` [columns, F]; the caller owns the result."""

    @abstractmethod
    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        """Gradients of the parameter (if requested) and of ``dense``, given that of the product."""

    def rows(self, start: int, stop: int) -> "LinearOperator":
        """Some of its rows, sharing its memory."""
        raise TypeError(f"{type(self).__name__} cannot be read in blocks of rows")

    def take(self, nodes: Tensor) -> "LinearOperator":
        """Some of its rows, in any order, of the same parameter; by default the others are computed and dropped."""
        return Taken(self, nodes)

    def __matmul__(self, dense: Tensor) -> Tensor:
        if dense.shape[0] != self.shape[1]:
            raise ValueError(f"cannot multiply a matrix of shape {self.shape} with {tuple(dense.shape)}")
        if dense.dtype != self.parameter.dtype:
            raise TypeError(f"cannot multiply a matrix of {self.parameter.dtype} with one of {dense.dtype}")
        out: Tensor = _Product.apply(self.parameter, dense.flatten(1), self)
        return out.view(self.shape[0], *dense.shape[1:])

    def to_dense(self) -> Tensor:
        return self @ torch.eye(self.shape[1], dtype=self.parameter.dtype, device=self.parameter.device)


class Dense(LinearOperator):
    """A plain matrix."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def parameter(self) -> Tensor:
        return self.matrix

    def product(self, dense: Tensor) -> Tensor:
        out = pool.empty(dense, self.shape[0], dense.shape[1])
        return torch.mm(self.matrix.detach(), dense.detach(), out=out)

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        return grad @ dense.t() if of_parameter else None, self.matrix.detach().t() @ grad

    def rows(self, start: int, stop: int) -> "Dense":
        return Dense(self.matrix[start:stop])

    def take(self, nodes: Tensor) -> "Dense":
        return Dense(self.matrix[nodes])

    def to(self, device: torch.device, dtype: torch.dtype) -> "Dense":
        return Dense(self.matrix.to(device, dtype))


class Taken(LinearOperator):
    """Some rows of an operator that has no rows of its own."""

    def __init__(self, operator: LinearOperator, nodes: Tensor) -> None:
        self.operator, self.nodes = operator, nodes

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.nodes), self.operator.shape[1]

    @property
    def parameter(self) -> Tensor:
        return self.operator.parameter

    def product(self, dense: Tensor) -> Tensor:
        return self.operator.product(dense)[self.nodes]

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        whole = grad.new_zeros(self.operator.shape[0], grad.shape[1]).index_add_(0, self.nodes, grad)
        return self.operator.gradients(dense, whole, of_parameter)


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

    def rows(self, start: int, stop: int) -> LinearOperator:
        return self.operator.rows(start, stop)

    def _is_factor(self, dense: Tensor) -> bool:
        before = self._factor
        same_memory = before is not None and before.data_ptr() == dense.data_ptr() and before.shape == dense.shape
        return same_memory and self._version == dense._version

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        return self.operator.gradients(dense, grad, of_parameter)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, parameter: Tensor, dense: Tensor, operator: LinearOperator) -> Tensor:
        ctx.save_for_backward(dense)
        ctx.operator = operator
        return operator.product(dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (dense,) = ctx.saved_tensors
        of_parameter, of_dense, _ = ctx.needs_input_grad
        parameter, operand = ctx.operator.gradients(dense, grads[0], of_parameter)
        return parameter, operand if of_dense else None, None
