"""Sparsification of filter matrices: keep the entries above a threshold, or the largest of each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ncgnn.sparse.kernels import Array, by_rows, compiled

# Values that are equal in theory differ by rounding, depending on the numbering of the nodes.
_TIE = 1 - 1e-9
_ALL = np.iinfo(np.int64).max

Bounds = tuple[int, float]  # how many entries of a row are kept, ties apart, and the least value


@dataclass(frozen=True)
class TopK:
    """Keep the ``k`` largest entries of each row, and every entry equal to the k-th, so that the result does not depend
    on the numbering of the nodes."""

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"TopK needs a positive k, not {self.k}")

    @property
    def bounds(self) -> Bounds:
        return self.k, 0.0

    def __call__(self, matrix: Any) -> Any:
        return _keep(matrix, self.bounds)


@dataclass(frozen=True)
class Threshold:
    """Keep the entries of at least ``epsilon``."""

    epsilon: float

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise ValueError(f"Threshold needs a positive epsilon, not {self.epsilon}")

    @property
    def bounds(self) -> Bounds:
        return _ALL, self.epsilon

    def __call__(self, matrix: Any) -> Any:
        return _keep(matrix, self.bounds)


Sparsify = TopK | Threshold
KEEP_ALL: Bounds = (_ALL, 0.0)


def normalize(matrix: Any) -> Any:
    """Symmetric normalisation with the matrix's row sums on both sides; an empty row stays empty."""
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.zeros_like(sums)
    np.divide(1, np.sqrt(sums), out=scale, where=sums > 0)
    values = np.repeat(scale, np.diff(matrix.indptr)) * matrix.data * scale[matrix.indices]
    return sp.csr_matrix((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _keep(matrix: Any, bounds: Bounds) -> Any:
    """A sparsified matrix, from a dense array or compressed rows without negative entries."""
    if isinstance(matrix, np.ndarray):
        matrix = _with_its_zeros(matrix)
    rows = matrix.shape[0]
    least, counts = np.empty(rows), np.empty(rows, np.int64)
    _count_kept(rows, *bounds, matrix.indptr, matrix.data, least, counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices, data = np.empty(indptr[-1], matrix.indices.dtype), np.empty(indptr[-1], matrix.data.dtype)
    _copy_kept(rows, least, matrix.indptr, matrix.indices, matrix.data, indptr, indices, data)
    return sp.csr_matrix((data, indices, indptr), shape=matrix.shape)


def _with_its_zeros(dense: Array) -> Any:
    """All entries of a dense array as compressed rows: much faster than searching for nonzeros."""
    rows, columns = dense.shape
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    return sp.csr_matrix((dense.ravel(), indices, np.arange(rows + 1) * columns), shape=dense.shape)


@compiled
def kth_largest(values: Array, k: int) -> Any:
    """By Hoare's quickselect; NumPy's ``partition`` takes five seconds to compile."""
    work, low, high = values.copy(), 0, values.shape[0] - 1
    rank = values.shape[0] - k
    while low < high:
        pivot, i, j = work[(low + high) // 2], low, high
        while i <= j:
            while work[i] < pivot:
                i += 1
            while work[j] > pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i, j = i + 1, j - 1
        if j < rank < i:
            return work[rank]
        low, high = (low, j) if rank <= j else (i, high)
    return work[rank]


@compiled
def least_kept(values: Array, k: int, epsilon: float) -> float:
    """The smallest value that is kept in a row."""
    if values.shape[0] > k:
        epsilon = max(epsilon, kth_largest(values, k))
    return epsilon * _TIE


@by_rows
def _count_kept(
    start: int, stop: int, k: int, epsilon: float, indptr: Array, values: Array, least: Array, counts: Array
) -> None:
    for i in range(start, stop):
        row = values[indptr[i] : indptr[i + 1]]
        least[i] = least_kept(row, k, epsilon)
        counts[i] = 0
        for value in row:
            if value >= least[i] and value > 0:
                counts[i] += 1


@by_rows
def _copy_kept(
    start: int,
    stop: int,
    least: Array,
    indptr: Array,
    indices: Array,
    values: Array,
    out_indptr: Array,
    out_indices: Array,
    out_values: Array,
) -> None:
    for i in range(start, stop):
        filled = out_indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            if values[e] >= least[i] and values[e] > 0:
                out_indices[filled], out_values[filled] = indices[e], values[e]
                filled += 1
