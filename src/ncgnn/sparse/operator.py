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

    def to(self, device: torch.device, dtype: torch.dtype) -> "Dense":
        return Dense(self.matrix.to(device, dtype))


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
