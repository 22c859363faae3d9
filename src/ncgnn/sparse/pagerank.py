"""Personalised PageRank: the exact matrix for small graphs, a push method with an error bound for large ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky
from scipy.linalg.lapack import dpotri

from ncgnn.sparse.kernels import Array, compiled, grown, in_chunks, num_threads
from ncgnn.sparse.sparsify import TopK, kth_largest

_NOTHING = 1e-300
EXACT_LIMIT = 10_000
"""Maximum number of nodes for the exact N x N inverse (0.8 GB in float64)."""


def exact_pagerank(a: Any, alpha: float) -> Any:
    r"""Equation 6, :math:`\alpha (\mathbf{I} - (1 - \alpha) \tilde{\mathbf{A}})^{-1}`, as a dense array."""
    n = a.shape[0]
    if n > EXACT_LIMIT:
        raise ValueError(
            f"exact PageRank inverts an N x N matrix and stops at {EXACT_LIMIT} nodes, this graph has {n}: "
            "give steps=P for the truncated sum, or, on an undirected graph, keep the top k entries of each row"
        )
    matrix = np.eye(n) - (1 - alpha) * a.toarray()
    return alpha * (_positive_inverse(matrix) if is_symmetric(a) else np.linalg.inv(matrix))


def is_symmetric(a: Any) -> bool:
    """Whether the graph of this adjacency matrix is undirected."""
    return a.nnz == 0 or bool(abs(a - a.T).max() < 1e-12)


def _positive_inverse(matrix: Array) -> Any:
    """The inverse of a symmetric positive definite matrix, computed in place with less than half the work."""
    root = cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    lower, _ = dpotri(root, lower=True, overwrite_c=True)
    return lower + np.tril(lower, -1).T


def push_pagerank(a: Any, alpha: float, top_k: TopK, tolerance: float) -> Any:
    r"""The largest entries of each row of equation 6, without forming the matrix.

    For every node s, probability is pushed along the random walk :math:`\hat{\mathbf{D}}^{-1} \hat{\mathbf{A}}` until
    the residual at each node u is below :math:`\epsilon \hat{d}_u`. On an undirected graph each entry (s, v)
    is then too small by at most :math:`\epsilon \sqrt{\hat{d}_s \hat{d}_v}`, and never too large. All entries that
    could, within this bound, be among the k largest or equal to the k-th are kept.

    Args:
        a: the normalised adjacency matrix :math:`\tilde{\mathbf{A}}`, symmetric.
        tolerance: :math:`\epsilon`; the work for a node is at most :math:`1 / (\alpha \epsilon)`.
    """
    return push_rows(a, alpha, top_k, tolerance)(range(a.shape[0]))


def push_rows(a: Any, alpha: float, top_k: TopK, tolerance: float) -> Callable[[range], Any]:
    """A function that computes some rows of :func:`push_pagerank`."""
    if not is_symmetric(a):
        raise ValueError("the push method needs an undirected graph: make the edges symmetric")
    # The diagonal of the normalised matrix is 1 / d, because A + I has ones there.
    root = np.sqrt(1 / a.diagonal())
    walk = sp.csr_matrix(sp.diags_array((1 - alpha) / root) @ a @ sp.diags_array(root))
    arrays = walk.indptr, walk.indices, walk.data, root, alpha, tolerance, top_k.k

    def push(rows: range) -> Any:
        first = rows.start
        parts = in_chunks(num_threads(), len(rows), lambda start, stop: _push(first + start, first + stop, *arrays))
        counts, indices, values = (np.concatenate(found) for found in zip(*parts, strict=True))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return sp.csr_matrix((values, indices, indptr), shape=(len(rows), a.shape[1]))

    return push


@compiled
def _push(
    start: int,
    stop: int,
    indptr: Array,
    indices: Array,
    walk: Array,
    root: Array,
    alpha: float,
    tolerance: float,
    k: int,
) -> Any:
    """For a range of seeds: the number of kept entries, their nodes and values."""
    n = root.shape[0]
    counts, rank, rest = np.zeros(stop - start, np.int64), np.zeros(n), np.zeros((n, 2))
    rest[:, 1] = tolerance * root * root  # residual, and the threshold for pushing it
    queue, ranked, touched = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    row, nodes, values, filled = np.empty(n), np.empty(4 * k, np.int32), np.empty(4 * k), 0
    for seed in range(start, stop):
        count = _push_one(seed, indptr, indices, walk, alpha, rank, rest, queue, ranked, touched)
        for j in range(count):
            row[j] = rank[ranked[j]] * root[seed] / root[ranked[j]]
            rank[ranked[j]] = 0
        limit = 0.0 if count <= k else kth_largest(row[:count], k)
        for j in range(count):
            if row[j] + tolerance * root[seed] * root[ranked[j]] >= limit:
                if filled == nodes.shape[0]:
                    nodes, values = grown(nodes, values)
                nodes[filled], values[filled] = ranked[j], row[j]
                filled += 1
                counts[seed - start] += 1
    return counts, nodes[:filled].copy(), values[:filled].copy()


@compiled
def _push_one(
    seed: int,
    indptr: Array,
    indices: Array,
    walk: Array,
    alpha: float,
    rank: Array,
    rest: Array,
    queue: Array,
    ranked: Array,
    touched: Array,
) -> int:
    """Fill ``rank`` for one seed and list its nodes in ``ranked``; return their number. Clears the residual."""
    n = rank.shape[0]
    rest[seed, 0], queue[0], touched[0] = 1.0, seed, seed
    head, waiting, reached, count = 0, 1, 1, 0
    while waiting:
        u = queue[head]
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        if rank[u] == 0:
            ranked[count] = u
            count += 1
        mass = rest[u, 0]
        rest[u, 0] = _NOTHING  # not zero, which means that u was never reached
        rank[u] += alpha * mass
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            before = rest[v, 0]
            after = before + mass * walk[e]
            rest[v, 0] = after
            if before == 0 and after > 0:
                touched[reached] = v
                reached += 1
            if before < rest[v, 1] <= after:
                end = head + waiting
                queue[end if end < n else end - n] = v
                waiting += 1
    for j in range(reached):
        rest[touched[j], 0] = 0
    return count
