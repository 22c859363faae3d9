"""Chains of products with one sparse matrix, row by row: each row goes through the whole chain by itself."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ncgnn.sparse.kernels import Array, compiled, grown, in_chunks, num_threads
from ncgnn.sparse.sparsify import Bounds, least_kept


def chains(a: Any, added: Array, kept: Array, bounds: Bounds, rows: range | None = None) -> list[Any]:
    """The sparsified ``M_t = M_{t-1} A + added[t] I`` for each t with ``kept[t]``, starting from zero.

    Args:
        a: a SciPy CSR matrix without negative entries; ``added`` is not negative either.
        rows: the rows to compute; all by default.
    """
    rows = range(a.shape[0]) if rows is None else rows
    first = rows.start
    parts = in_chunks(
        num_threads(),
        len(rows),
        lambda start, stop: _chain(first + start, first + stop, a.indptr, a.indices, a.data, added, kept, *bounds),
    )
    counts, columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    step = np.repeat(np.tile(np.arange(counts.shape[1], dtype=np.int16), len(counts)), counts.ravel())
    return [_matrix(counts[:, t], columns[step == t], values[step == t], a.shape[1]) for t in range(counts.shape[1])]


def _matrix(counts: Array, columns: Array, values: Array, num_columns: int) -> Any:
    indptr = np.concatenate([[0], np.cumsum(counts)])
    matrix = sp.csr_matrix((values, columns, indptr), shape=(len(counts), num_columns))
    matrix.sort_indices()
    return matrix


@compiled
def _chain(
    start: int,
    stop: int,
    indptr: Array,
    indices: Array,
    data: Array,
    added: Array,
    kept: Array,
    k: int,
    epsilon: float,
) -> Any:
    """For a range of rows: the number of entries at each kept step, and all their columns and values."""
    n = indptr.shape[0] - 1
    row, product, seen = np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    nodes, reached = np.empty(n, np.int32), np.empty(n, np.int32)
    counts = np.zeros((stop - start, kept.sum()), np.int64)
    columns, values, filled = np.empty(n, np.int32), np.empty(n), 0
    for i in range(start, stop):
        entries, step = 0, 0
        for t in range(added.shape[0]):
            entries = multiply(row, nodes[:entries], i, added[t], indptr, indices, data, product, reached, seen)
            row, nodes, product, reached = product, reached, row, nodes
            if kept[t]:
                if filled + entries > columns.shape[0]:
                    columns, values = grown(columns, values)
                found = _copy_largest(row, nodes[:entries], k, epsilon, columns[filled:], values[filled:])
                counts[i - start, step] = found
                filled, step = filled + found, step + 1
        for u in nodes[:entries]:
            row[u] = 0
    return counts, columns[:filled].copy(), values[:filled].copy()


@compiled
def multiply(
    row: Array,
    nodes: Array,
    own: int,
    added: float,
    indptr: Array,
    indices: Array,
    data: Array,
    product: Array,
    reached: Array,
    seen: Array,
) -> int:
    """``product = row @ A + added * e_own`` where ``nodes`` lists the entries of ``row``, which is cleared.

    Lists the entries of the product in ``reached`` and returns how many there are.
    """
    count = 0
    if added != 0:
        product[own], seen[own], reached[0], count = added, True, own, 1
    for u in nodes:
        weight = row[u]
        row[u] = 0
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if not seen[v]:
                seen[v] = True
                reached[count] = v
                count += 1
            product[v] += weight * data[e]
    for v in reached[:count]:
        seen[v] = False
    return count


@compiled
def _copy_largest(row: Array, nodes: Array, k: int, epsilon: float, columns: Array, values: Array) -> int:
    """The kept ``nodes`` and their values, at the front of two arrays of full size."""
    for j in range(nodes.shape[0]):
        values[j] = row[nodes[j]]
    least = least_kept(values[: nodes.shape[0]], k, epsilon)
    found = 0
    for j in range(nodes.shape[0]):
        if values[j] >= least and values[j] > 0:
            columns[found], values[found] = nodes[j], values[j]
            found += 1
    return found
