"""Powers of a sparse matrix, sparsified block of rows by block, so that no full power ever exists."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ncgnn.sparse.csr import CSR, Pattern
from ncgnn.sparse.sparsify import Sparsify, normalize

_ROWS_AT_A_TIME = 2048


class HopBank:
    """The explicit form of an attention filter: the matrices of all hops on one common pattern.

    ``bank.combine(xi)`` is their weighted sum, differentiable in ``xi``.
    """

    def __init__(self, pattern: Pattern, values: Tensor) -> None:
        self.pattern = pattern
        self.values = values  # [hops, nnz]

    @classmethod
    def from_scipy(cls, matrices: Sequence[Any], dtype: torch.dtype) -> "HopBank":
        n = matrices[0].shape[0]
        entries = [m.tocoo() for m in matrices]
        keys = [m.row.astype(np.int64) * n + m.col for m in entries]
        union = np.unique(np.concatenate(keys))
        values = np.zeros((len(matrices), union.size))
        for row, key, matrix in zip(values, keys, entries, strict=True):
            row[np.searchsorted(union, key)] = matrix.data
        indptr = np.searchsorted(union, np.arange(n + 1) * n)
        pattern = CSR.from_scipy(sp.csr_matrix((union, union % n, indptr), shape=(n, n)), dtype).pattern
        return cls(pattern, torch.from_numpy(values).to(dtype))

    def combine(self, xi: Tensor) -> CSR:
        return CSR(self.pattern, xi @ self.values)

    def to(self, device: torch.device, dtype: torch.dtype) -> "HopBank":
        return HopBank(self.pattern.to(device), self.values.to(device, dtype))


def hop_matrices(a: Any, hops: Sequence[int], sparsify: Sparsify | None) -> list[Any]:
    """``A^i`` for each hop i, each sparsified and normalised again."""
    kept: dict[int, list[Any]] = {hop: [] for hop in hops}
    for rows in _row_blocks(a.shape[0]):
        for hop, power in enumerate(_powers(rows, a, max(hops))):
            if hop in kept:
                kept[hop].append(sparsify(power) if sparsify else power)
    stacked = [sp.vstack(kept[hop], format="csr") for hop in hops]
    return [normalize(m) for m in stacked] if sparsify else stacked


def polynomial_matrix(a: Any, coefficients: Sequence[float], sparsify: Sparsify | None) -> Any:
    """``sum_i xi_i A^i``, sparsified and normalised again."""
    kept = []
    for rows in _row_blocks(a.shape[0]):
        powers = _powers(rows, a, len(coefficients) - 1)
        block = sum(xi * power for xi, power in zip(coefficients, powers, strict=True)).tocsr()
        kept.append(sparsify(block) if sparsify else block)
    stacked = sp.vstack(kept, format="csr")
    return normalize(stacked) if sparsify else stacked


def _row_blocks(n: int) -> Iterator[Any]:
    """The identity matrix, some rows at a time."""
    identity = sp.eye_array(n, format="csr")
    for start in range(0, n, _ROWS_AT_A_TIME):
        yield sp.csr_matrix(identity[start : start + _ROWS_AT_A_TIME])


def _powers(rows: Any, a: Any, degree: int) -> Iterator[Any]:
    """``rows @ A^0, ..., rows @ A^degree``, one after the other."""
    yield rows
    for _ in range(degree):
        rows = sp.csr_matrix(rows @ a)
        yield rows
