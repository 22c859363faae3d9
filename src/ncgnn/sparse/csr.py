"""Sparse matrices in compressed rows, with a differentiable product and a transpose computed once."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ncgnn.sparse import kernels, pool
from ncgnn.sparse.operator import Dense, LinearOperator

SPARSE_BELOW = 0.25
"""Fraction of nonzeros below which sparse products are faster than dense ones (measured: a tenth to a third)."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """The sparsity pattern of a matrix: ``indptr`` [rows + 1], ``indices`` [nnz] and the number of columns."""

    indptr: Tensor
    indices: Tensor
    num_columns: int

    @property
    def num_rows(self) -> int:
        return self.indptr.numel() - 1

    @cached_property
    def transpose(self) -> tuple["Pattern", Tensor]:
        """The transposed pattern, and the permutation of the values."""
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


def as_operator(matrix: Tensor | LinearOperator) -> LinearOperator:
    """A linear operator from a tensor, dense or ``torch.sparse_csr``."""
    if isinstance(matrix, LinearOperator):
        return matrix
    return CSR.from_torch(matrix) if matrix.layout == torch.sparse_csr else Dense(matrix)


def cheaper_operator(matrix: Tensor) -> LinearOperator:
    """The operator, sparse or dense, with the cheaper products on a CPU; unchanged on other devices."""
    if matrix.device.type != "cpu":
        return as_operator(matrix)
    is_sparse = matrix.layout == torch.sparse_csr
    entries = matrix.values().numel() if is_sparse else int(torch.count_nonzero(matrix))
    if entries >= SPARSE_BELOW * matrix.shape[0] * matrix.shape[1]:
        return Dense(matrix.to_dense() if is_sparse else matrix)
    if not is_sparse:
        return CSR.from_scipy(sp.csr_matrix(matrix.numpy()), matrix.dtype)
    parts = (matrix.values().numpy(), matrix.col_indices().numpy(), matrix.crow_indices().numpy())
    return CSR.from_scipy(sp.csr_matrix(parts, shape=tuple(matrix.shape)), matrix.dtype)  # with the short indices


@dataclass(frozen=True, eq=False)
class CSR(LinearOperator):
    """A sparse matrix: a pattern and its values [nnz]."""

    pattern: Pattern
    values: Tensor

    @classmethod
    def from_scipy(cls, matrix: Any, dtype: torch.dtype) -> Self:
        """From any matrix that SciPy can convert to a sparse one."""
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
    def _parts(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.pattern.indptr, self.pattern.indices, self.values

    @property
    def parameter(self) -> Tensor:
        return self.values

    @cached_property
    def T(self) -> "CSR":
        pattern, order = self.pattern.transpose
        return CSR(pattern, self.values.detach()[order])

    def rows(self, start: int, stop: int) -> "CSR":
        indptr = self.pattern.indptr[start : stop + 1]
        entries = slice(int(indptr[0]), int(indptr[-1]))
        pattern = Pattern(indptr - indptr[0], self.pattern.indices[entries], self.pattern.num_columns)
        return CSR(pattern, self.values[entries])

    def take(self, nodes: Tensor) -> "CSR":
        """Some rows, in any order."""
        starts = self.pattern.indptr[nodes].long()
        counts = self.pattern.indptr[nodes + 1].long() - starts
        ends = counts.cumsum(0)
        places = torch.repeat_interleave(starts - ends + counts, counts) + torch.arange(int(counts.sum()))
        indptr = torch.cat([ends.new_zeros(1), ends]).to(self.pattern.indptr.dtype)
        return CSR(Pattern(indptr, self.pattern.indices[places], self.pattern.num_columns), self.values[places])

    def to(self, device: torch.device, dtype: torch.dtype) -> "CSR":
        return CSR(self.pattern.to(device), self.values.to(device, dtype))

    def to_torch(self) -> Tensor:
        with warnings.catch_warnings():  # torch announces once that CSR tensors are in beta
            warnings.simplefilter("ignore", UserWarning)
            return torch.sparse_csr_tensor(self.pattern.indptr, self.pattern.indices, self.values, size=self.shape)

    def product(self, dense: Tensor) -> Tensor:
        if dense.device.type != "cpu":
            return self.to_torch().detach() @ dense
        out = pool.empty(dense, self.shape[0], dense.shape[1])
        kernels.spmm(self.shape[0], *kernels.arrays(*self._parts, dense, out), work=self._work(dense))
        return out

    def product_plus(self, factor: float, dense: Tensor, scale: float, summand: Tensor) -> Tensor:
        """``factor * A @ dense + scale * summand`` in one pass."""
        if dense.device.type != "cpu":
            return self.product(dense).mul_(factor).add_(summand, alpha=scale)
        out = pool.empty(dense, self.shape[0], dense.shape[1])
        tensors = kernels.arrays(*self._parts, dense, summand, out)
        kernels.spmm_plus(self.shape[0], factor, scale, *tensors, work=self._work(dense))
        return out

    def product_minus_(self, out: Tensor, factor: float, dense: Tensor, scale: float, summand: Tensor) -> Tensor:
        """``out = factor * A @ dense + scale * summand - out`` in one pass and in place."""
        if dense.device.type != "cpu":
            return out.neg_().add_(self.product(dense), alpha=factor).add_(summand, alpha=scale)
        tensors = (*kernels.arrays(*self._parts, dense, summand), out.numpy())
        kernels.spmm_minus(self.shape[0], factor, scale, *tensors, work=self._work(dense))
        return out

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        return self._sampled(grad, dense) if of_parameter else None, self.transposed_product(grad)

    def transposed_product(self, dense: Tensor) -> Tensor:
        """``A.T @ dense``; for tall matrices, such as features, rows are added to a result that fits into the cache."""
        if dense.device.type != "cpu" or self.shape[0] <= self.shape[1]:
            return self.T.product(dense)
        threads = kernels.threads_for(self._work(dense))
        parts = pool.empty(dense, threads, self.shape[1], dense.shape[1])
        kernels.spmm_transposed(len(parts), *kernels.arrays(*self._parts, dense, parts), work=self._work(dense))
        return parts.sum(dim=0) if len(parts) > 1 else parts[0]

    def _work(self, dense: Tensor) -> int:
        """Number of multiplications of a product."""
        return self.values.numel() * dense.shape[1]

    def _sampled(self, left: Tensor, right: Tensor) -> Tensor:
        """``left @ right.T`` at the stored entries only."""
        if left.device.type != "cpu":
            rows = torch.repeat_interleave(self.pattern.indptr.diff())
            return (left[rows] * right[self.pattern.indices]).sum(1)
        out = left.new_empty(self.values.numel())
        kernels.sddmm(self.shape[0], *kernels.arrays(*self._parts[:2], left, right, out), work=self._work(left))
        return out

    def __repr__(self) -> str:
        return f"CSR({self.shape[0]} x {self.shape[1]}, {self.values.numel()} entries)"
