"""Compiled loops over compressed rows. Each output row is written by one thread, so results do not depend on timing."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

Array = Any  # numba infers the types of arrays and scalars

# Sums may be reordered and fused, but infinities and NaN keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
# Entries or multiplications: below this, a millisecond or two, another thread is not worth it.
_WORK_PER_THREAD = 4_000_000
_CHUNKS_PER_THREAD = 4  # rows differ in length

compiled = numba.njit(nogil=True, fastmath=_FASTMATH, error_model="numpy", cache=True)
inlined = numba.njit(fastmath=_FASTMATH, error_model="numpy", inline="always")  # small functions called by kernels


def by_rows(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a kernel ``(start, stop, ...)`` over a range of rows. The result is called with the number of rows and
    splits them among as many threads as torch uses, or fewer if the ``work``, by default the size of the largest array,
    is too small.

    It uses Python threads: compiling for numba's threads takes five times as long, and those share torch's OpenMP
    runtime, where spinning threads take cores from working ones.
    """
    kernel = compiled(function)

    @wraps(function)
    def run(rows: int, *arguments: Any, work: int | None = None) -> None:
        entries = max(a.size for a in arguments if isinstance(a, np.ndarray)) if work is None else work
        threads = threads_for(entries)
        if threads == 1:
            kernel(0, rows, *arguments)
            return
        in_chunks(threads, rows, lambda start, stop: kernel(start, stop, *arguments))

    return run


def in_chunks(threads: int, rows: int, task: Callable[[int, int], Any]) -> list[Any]:
    """The results of ``task(start, stop)`` for all chunks of rows, in order.

    The calling thread works too, and any free thread takes the next chunk, so a thread that wakes up late delays
    nothing.
    """
    chunks = max(1, min(rows, threads * _CHUNKS_PER_THREAD)) if threads > 1 else 1
    bounds = [rows * i // chunks for i in range(chunks + 1)]
    results: list[Any] = [None] * chunks
    numbers = iter(range(chunks))  # shared; taking the next one is atomic

    def work() -> None:
        for i in numbers:
            results[i] = task(bounds[i], bounds[i + 1])

    others = [_pool(threads - 1).submit(work) for _ in range(threads - 1)]
    work()
    for other in others:
        if not other.cancel():
            other.result()
    return results


def num_threads() -> int:
    """Maximum number of threads of a kernel: as many as torch uses."""
    return torch.get_num_threads()


def threads_for(work: int) -> int:
    """Number of threads worth using."""
    return min(num_threads(), 1 + work // _WORK_PER_THREAD)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="ncgnn")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def arrays(*tensors: Tensor) -> tuple[Any, ...]:
    """Tensors as NumPy arrays, sharing memory if contiguous."""
    return tuple(tensor.detach().contiguous().numpy() for tensor in tensors)


@by_rows
def spmm(start: int, stop: int, indptr: Array, indices: Array, values: Array, dense: Array, out: Array) -> None:
    """``out = A @ dense``."""
    for i in range(start, stop):
        out[i] = 0
        _add_row(i, values.dtype.type(1), indptr, indices, values, dense, out[i])


@by_rows
def spmm_transposed(
    start: int, stop: int, indptr: Array, indices: Array, values: Array, dense: Array, out: Array
) -> None:
    """``out.sum(0) = A.T @ dense``; each thread sums its rows into its own part."""
    n, parts = indptr.shape[0] - 1, out.shape[0]
    for part in range(start, stop):
        out[part] = 0
        for i in range(part * n // parts, (part + 1) * n // parts):
            source = dense[i]
            for e in range(indptr[i], indptr[i + 1]):
                a, row = values[e], out[part, indices[e]]
                for f in range(row.shape[0]):
                    row[f] += a * source[f]


@by_rows
def spmm_plus(
    start: int,
    stop: int,
    factor: float,
    scale: float,
    indptr: Array,
    indices: Array,
    values: Array,
    dense: Array,
    summand: Array,
    out: Array,
) -> None:
    """``out = factor * A @ dense + scale * summand``."""
    for i in range(start, stop):
        row, extra, second = out[i], summand[i], values.dtype.type(scale)
        for f in range(row.shape[0]):
            row[f] = second * extra[f]
        _add_row(i, values.dtype.type(factor), indptr, indices, values, dense, row)


@by_rows
def spmm_minus(
    start: int,
    stop: int,
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
    for i in range(start, stop):
        row, extra, second = out[i], summand[i], values.dtype.type(scale)
        for f in range(row.shape[0]):
            row[f] = second * extra[f] - row[f]
        _add_row(i, values.dtype.type(factor), indptr, indices, values, dense, row)


@inlined
def _add_row(i: int, factor: Any, indptr: Array, indices: Array, values: Array, dense: Array, row: Array) -> None:
    """``row += factor * A[i] @ dense``, four entries at a time: ``row`` is read and written once for them."""
    end = indptr[i + 1]
    for e in range(indptr[i], end - 3, 4):
        a, b, c, d = factor * values[e], factor * values[e + 1], factor * values[e + 2], factor * values[e + 3]
        x, y, z, w = dense[indices[e]], dense[indices[e + 1]], dense[indices[e + 2]], dense[indices[e + 3]]
        for f in range(row.shape[0]):
            row[f] += a * x[f] + b * y[f] + c * z[f] + d * w[f]
    for e in range(end - (end - indptr[i]) % 4, end):
        a, x = factor * values[e], dense[indices[e]]
        for f in range(row.shape[0]):
            row[f] += a * x[f]


@by_rows
def sddmm(start: int, stop: int, indptr: Array, indices: Array, left: Array, right: Array, out: Array) -> None:
    """``out[e] = left[i] . right[j]`` for every stored entry ``e = (i, j)``."""
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            a, b = left[i], right[indices[e]]
            total = a[0] * b[0]
            for f in range(1, a.shape[0]):
                total += a[f] * b[f]
            out[e] = total


@compiled
def grown(nodes: Array, values: Array) -> Any:
    """Two arrays of twice the size."""
    return np.concatenate((nodes, np.empty_like(nodes))), np.concatenate((values, np.empty_like(values)))
