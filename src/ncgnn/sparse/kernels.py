"""Compiled loops over compressed rows. Each output row is written by one thread, so results do not depend on timing."""

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]

# Sums may be reordered and fused, but infinities and NaN keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


@numba.njit(parallel=True, fastmath=_FASTMATH, cache=True)
def spmm(indptr: Array, indices: Array, values: Array, dense: Array, out: Array) -> None:
    """``out = A @ dense``."""
    for i in numba.prange(indptr.shape[0] - 1):
        row = out[i]
        row[:] = 0
        for e in range(indptr[i], indptr[i + 1]):
            a, source = values[e], dense[indices[e]]
            for f in range(row.shape[0]):
                row[f] += a * source[f]


@numba.njit(parallel=True, fastmath=_FASTMATH, cache=True)
def spmm_plus(
    indptr: Array, indices: Array, values: Array, dense: Array, scale: float, summand: Array, out: Array
) -> None:
    """``out = A @ dense + scale * summand``."""
    for i in numba.prange(indptr.shape[0] - 1):
        row, extra, factor = out[i], summand[i], values.dtype.type(scale)
        for f in range(row.shape[0]):
            row[f] = factor * extra[f]
        for e in range(indptr[i], indptr[i + 1]):
            a, source = values[e], dense[indices[e]]
            for f in range(row.shape[0]):
                row[f] += a * source[f]


@numba.njit(parallel=True, fastmath=_FASTMATH, cache=True)
def sddmm(indptr: Array, indices: Array, left: Array, right: Array, out: Array) -> None:
    """``out[e] = left[i] . right[j]`` for every stored entry ``e = (i, j)``."""
    for i in numba.prange(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            a, b = left[i], right[indices[e]]
            total = a[0] * b[0]
            for f in range(1, a.shape[0]):
                total += a[f] * b[f]
            out[e] = total


@numba.njit(parallel=True, cache=True)
def kth_largest(indptr: Array, values: Array, k: int, out: Array) -> None:
    """``out[i]`` is the k-th largest stored value of row i; minus infinity where a row has no more than k."""
    for i in numba.prange(indptr.shape[0] - 1):
        row = values[indptr[i] : indptr[i + 1]]
        out[i] = -np.inf if row.shape[0] <= k else np.partition(row, row.shape[0] - k)[row.shape[0] - k]
