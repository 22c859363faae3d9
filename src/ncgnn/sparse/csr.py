"""Sparse matrices in compressed rows, with a differentiable product and a transpose computed once."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.sparse import kernels


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the entries of a sparse matrix are: ``indptr`` [rows + 1], ``indices`` [nnz] and the number of columns."""

    indptr: Tensor
    indices: Tensor
    num_columns: int

    @property
    def num_rows(self) -> int:
        return self.indptr.numel() - 1

    @cached_property
    def transpose(self) -> tuple["Pattern", Tensor]:
        """The transposed pattern, and the order in which it takes this pattern's values."""
        positions = np.arange(self.indices.numel())
        shape = (self.num_rows, self.num_columns)
        matrix = sp.csr_matrix((positions, self.indices.cpu().numpy(), self.indptr.cpu().numpy()), shape=shape)
        flipped = matrix.T.tocsr()
        device, index = self.indices.device, self.indices.dtype
        pattern = Pattern(
            torch.from_numpy(flipped.indptr).to(device, index),
            torch.from_numpy(flipped.indices).to(device, index),
            self.num_rows,
        )
        return pattern, torch.from_numpy(flipped.data.astype(np.int64)).to(device)

    def to(self, device: torch.device) -> "Pattern":
        return Pattern(self.indptr.to(device), self.indices.to(device), self.num_columns)


@dataclass(frozen=True, eq=False)
class CSR:
    """A sparse matrix: a pattern and its values [nnz]. ``matrix @ dense`` is differentiable in both factors."""

    pattern: Pattern
    values: Tensor

    @classmethod
    def from_scipy(cls, matrix: Any, dtype: torch.dtype) -> Self:
        matrix = sp.csr_matrix(matrix)
        index = np.int32 if matrix.nnz < np.iinfo(np.int32).max else np.int64
        pattern = Pattern(
            torch.from_numpy(matrix.indptr.astype(index)),
            torch.from_numpy(matrix.indices.astype(index)),
            matrix.shape[1],
        )
        return cls(pattern, torch.as_tensor(matrix.data).to(dtype))

    @classmethod
    def from_torch(cls, matrix: Tensor) -> Self:
        """From a ``torch.sparse_csr`` tensor, sharing its memory."""
        return cls(Pattern(matrix.crow_indices(), matrix.col_indices(), matrix.shape[1]), matrix.values())

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.num_rows, self.pattern.num_columns

    @property
    def T(self) -> "CSR":
        pattern, order = self.pattern.transpose
        return CSR(pattern, self.values[order])

    def to(self, device: torch.device, dtype: torch.dtype) -> "CSR":
        return CSR(self.pattern.to(device), self.values.to(device, dtype))

    def to_torch(self) -> Tensor:
        with warnings.catch_warnings():  # torch announces once that CSR tensors are in beta
            warnings.simplefilter("ignore", UserWarning)
            return torch.sparse_csr_tensor(self.pattern.indptr, self.pattern.indices, self.values, size=self.shape)

    def to_dense(self) -> Tensor:
        return self @ torch.eye(self.shape[1], dtype=self.values.dtype, device=self.values.device)

    def __matmul__(self, dense: Tensor) -> Tensor:
        if dense.shape[0] != self.shape[1]:
            raise ValueError(f"cannot multiply a matrix of shape {self.shape} with {tuple(dense.shape)}")
        out: Tensor = _Product.apply(self.values, dense.flatten(1), self.pattern)
        return out.view(self.shape[0], *dense.shape[1:])

    def __repr__(self) -> str:
        return f"CSR({self.shape[0]} x {self.shape[1]}, {self.values.numel()} entries)"


def product(matrix: CSR, dense: Tensor) -> Tensor:
    """``matrix @ dense`` outside autograd: compiled rows on a CPU, torch's sparse product elsewhere."""
    if dense.device.type != "cpu":
        return matrix.to_torch() @ dense
    dense = dense.detach().contiguous()
    out = dense.new_empty(matrix.shape[0], dense.shape[1])
    pattern = matrix.pattern
    arrays = (pattern.indptr, pattern.indices, matrix.values.detach(), dense, out)
    kernels.spmm(*(a.numpy() for a in arrays))
    return out


def _sampled_product(pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:
    """``(left @ right.T)`` at the pattern's entries only."""
    if left.device.type != "cpu":
        rows = torch.repeat_interleave(pattern.indptr.diff())
        return (left[rows] * right[pattern.indices]).sum(1)
    out = left.new_empty(pattern.indices.numel())
    arrays = (pattern.indptr, pattern.indices, left.contiguous(), right.detach().contiguous(), out)
    kernels.sddmm(*(a.numpy() for a in arrays))
    return out


class _Product(torch.autograd.Function):
    """``A(values) @ dense``; the gradient of ``values`` is taken at the stored entries alone."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(values, dense)
        ctx.pattern = pattern
        return product(CSR(pattern, values), dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        values, dense = ctx.saved_tensors
        grad = grads[0]
        grad_values = _sampled_product(ctx.pattern, grad, dense) if ctx.needs_input_grad[0] else None
        grad_dense = product(CSR(ctx.pattern, values).T, grad) if ctx.needs_input_grad[1] else None
        return grad_values, grad_dense, None
