"""Powers of a sparse matrix, computed and sparsified row by row, so that no full power is ever stored."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ncgnn.sparse.chain import chains
from ncgnn.sparse.csr import CSR, Pattern
from ncgnn.sparse.kernels import Array, by_rows
from ncgnn.sparse.sparsify import KEEP_ALL, Sparsify, normalize


class HopBank:
    """The explicit form of an attention filter: the matrices of all hops on one common pattern.

    ``bank.combine(xi)`` is their weighted sum, differentiable in ``xi``.
    """

    def __init__(self, pattern: Pattern, values: Tensor) -> None:
        self.pattern = pattern
        self.values = values  # [hops, nnz]

    @classmethod
    def from_scipy(cls, matrices: Sequence[Any], dtype: torch.dtype) -> "HopBank":
        matrices = [m if m.has_sorted_indices else m.sorted_indices() for m in matrices]
        union = reduce(add, [sp.csr_matrix((np.ones(m.nnz, bool), m.indices, m.indptr), m.shape) for m in matrices])
        values = np.zeros((len(matrices), union.nnz))
        for row, m in zip(values, matrices, strict=True):
            _spread(m.shape[0], m.indptr, m.indices, m.data, union.indptr, union.indices, row)
        return cls(CSR.from_scipy(union, dtype).pattern, torch.from_numpy(values).to(dtype))

    def combine(self, xi: Tensor) -> CSR:
        return CSR(self.pattern, xi @ self.values)

    def to(self, device: torch.device, dtype: torch.dtype) -> "HopBank":
        return HopBank(self.pattern.to(device), self.values.to(device, dtype))


def hop_matrices(a: Any, hops: Sequence[int], sparsify: Sparsify | None) -> list[Any]:
    """``A^i`` for each of the ascending hops i, sparsified and renormalised."""
    powers = hop_rows(a, hops, sparsify)
    return [normalize(power) for power in powers] if sparsify else powers


def hop_rows(a: Any, hops: Sequence[int], sparsify: Sparsify | None, rows: range | None = None) -> list[Any]:
    """Some or all rows of ``A^i`` for each of the ascending hops i, sparsified, but not renormalised."""
    added = np.eye(1, max(hops) + 1).ravel()  # the identity at first, nothing later
    kept = np.isin(np.arange(added.size), hops)
    return chains(a, added, kept, sparsify.bounds if sparsify else KEEP_ALL, rows)


def polynomial_matrix(a: Any, coefficients: Sequence[float], sparsify: Sparsify | None) -> Any:
    """``sum_i xi_i A^i``, sparsified and renormalised, by Horner's scheme."""
    whole = polynomial_rows(a, coefficients, sparsify)
    return normalize(whole) if sparsify else whole


def polynomial_rows(a: Any, coefficients: Sequence[float], sparsify: Sparsify | None, rows: range | None = None) -> Any:
    """Some or all rows of ``sum_i xi_i A^i``, sparsified, but not renormalised."""
    added = np.array(coefficients, np.float64)[::-1].copy()
    is_last = np.arange(added.size) == added.size - 1
    (whole,) = chains(a, added, is_last, sparsify.bounds if sparsify else KEEP_ALL, rows)
    return whole


@by_rows
def _spread(
    start: int,
    stop: int,
    indptr: Array,
    indices: Array,
    values: Array,
    union_indptr: Array,
    union_indices: Array,
    out: Array,
) -> None:
    """Each value at the position of its entry in the union; columns are sorted in both."""
    for i in range(start, stop):
        place = union_indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            while union_indices[place] < indices[e]:
                place += 1
            out[place] = values[e]
