"""Compiled loops over compressed rows. Each output row is written by one thread, so results do not depend on timing."""

from collections.abc import Callable
from functools import cache, wraps
from types import FunctionType
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

Array = Any  # numba finds out the types of the arrays and of the scalars taken from them

# Sums may be reordered and fused, but infinities and NaN keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
ENTRIES_PER_THREAD = 500_000  # below, waking another thread saves little and on a busy machine costs much

inlined = numba.njit(fastmath=_FASTMATH, inline="always")
"""For small functions that kernels call."""


def parallel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a kernel whose outer loop is a ``prange``, once for one thread and once for several. It runs on as many
    as its largest array is worth, and on no more than torch uses."""
    serial = _compiled(function, "serial", parallel=False)
    threaded = _compiled(function, "threaded", parallel=True)

    @wraps(function)
    def run(*arguments: Any) -> None:
        work = max(a.size for a in arguments if isinstance(a, np.ndarray))
        wanted = min(num_threads(), 1 + work // ENTRIES_PER_THREAD)
        if wanted == 1:
            serial(*arguments)
            return
        allowed = numba.get_num_threads()
        numba.set_num_threads(wanted)
        try:
            threaded(*arguments)
        finally:
            numba.set_num_threads(allowed)

    return run


def _compiled(function: Callable[..., None], kind: str, parallel: bool) -> Any:
    # numba keeps compiled code by the name of the function alone, so the two need names of their own
    copy = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_{kind}")
    copy.__qualname__ = copy.__name__
    return numba.njit(parallel=parallel, fastmath=_FASTMATH, cache=True)(copy)


def num_threads() -> int:
    """How many threads a kernel may use."""
    _start_threads()
    return min(numba.get_num_threads(), torch.get_num_threads())


@cache
def _start_threads() -> None:
    count = torch.get_num_threads()
    numba.get_num_threads()  # starts them, and sets the number of torch's threads too, for both use one runtime
    torch.set_num_threads(count)


def arrays(*tensors: Tensor) -> tuple[Any, ...]:
    """Tensors as NumPy arrays that share the memory of those that are contiguous."""
    return tuple(tensor.detach().contiguous().numpy() for tensor in tensors)


@parallel
def spmm(indptr: Array, indices: Array, values: Array, dense: Array, out: Array) -> None:
    """``out = A @ dense``."""
    for i in numba.prange(indptr.shape[0] - 1):
        row = out[i]
        row[:] = 0
        for e in range(indptr[i], indptr[i + 1]):
            a, source = values[e], dense[indices[e]]
            for f in range(row.shape[0]):
                row[f] += a * source[f]


@parallel
def spmm_transposed(indptr: Array, indices: Array, values: Array, dense: Array, out: Array) -> None:
    """``out.sum(0) = A.T @ dense``; each thread adds its rows into a part of its own."""
    n, parts = indptr.shape[0] - 1, out.shape[0]
    for part in numba.prange(parts):
        out[part] = 0
        for i in range(part * n // parts, (part + 1) * n // parts):
            source = dense[i]
            for e in range(indptr[i], indptr[i + 1]):
                a, row = values[e], out[part, indices[e]]
                for f in range(row.shape[0]):
                    row[f] += a * source[f]


@parallel
def spmm_plus(
    scale: float, indptr: Array, indices: Array, values: Array, dense: Array, summand: Array, out: Array
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


@parallel
def spmm_minus(
    factor: float,
    scale: float,
    indptr: Array,
    indices: Array,
    values: Array,
    dense: Array,
    summand: Array,
    out: Array,
) -> None:
    """``out = factor * A @ dense + scale * summand - out``."""
    for i in numba.prange(indptr.shape[0] - 1):
        row, extra = out[i], summand[i]
        first, second = values.dtype.type(factor), values.dtype.type(scale)
        for f in range(row.shape[0]):
            row[f] = second * extra[f] - row[f]
        for e in range(indptr[i], indptr[i + 1]):
            a, source = first * values[e], dense[indices[e]]
            for f in range(row.shape[0]):
                row[f] += a * source[f]


@parallel
def sddmm(indptr: Array, indices: Array, left: Array, right: Array, out: Array) -> None:
    """``out[e] = left[i] . right[j]`` for every stored entry ``e = (i, j)``."""
    for i in numba.prange(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            a, b = left[i], right[indices[e]]
            total = a[0] * b[0]
            for f in range(1, a.shape[0]):
                total += a[f] * b[f]
            out[e] = total


@parallel
def kth_largest(indptr: Array, values: Array, k: int, out: Array) -> None:
    """``out[i]`` is the k-th largest stored value of row i; minus infinity where a row has no more than k."""
    for i in numba.prange(indptr.shape[0] - 1):
        row = values[indptr[i] : indptr[i + 1]]
        out[i] = -np.inf if row.shape[0] <= k else np.partition(row, row.shape[0] - k)[row.shape[0] - k]
