"""Isomap (Tenenbaum et al., 2000) of a graph: a plane in which distances are close to numbers of hops."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from ncgnn.sparse.kernels import compiled

_UNREACHED = 65535


def isomap(a: sp.csr_array) -> np.ndarray:
    """Places of the nodes [N, 2]: multidimensional scaling of the distances in the graph."""
    squares = hops(a).astype(np.float32) ** 2
    n = len(squares)

    def centred(v: np.ndarray) -> Any:
        product = squares @ (v.ravel() - v.mean()).astype(np.float32)
        return -0.5 * (product - product.mean())

    start = np.random.default_rng(0).normal(size=n)
    values, vectors = eigsh(LinearOperator((n, n), centred, dtype=np.float64), k=2, v0=start, which="LA")
    places = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0))
    return np.asarray(places * np.sign(places[np.abs(places).argmax(axis=0), [0, 1]]))


def hops(a: sp.csr_array) -> np.ndarray:
    """Numbers of hops between all nodes [N, N]; nodes without a path are one hop further apart than any others."""
    out = np.full(a.shape, _UNREACHED, np.uint16)
    _search(a.indptr, a.indices, out)
    out[out == _UNREACHED] = out[out != _UNREACHED].max() + 1
    return out


@compiled
def _search(indptr: np.ndarray, indices: np.ndarray, out: np.ndarray) -> None:
    """Breadth-first from each node."""
    queue = np.empty(out.shape[0], np.int64)
    for start in range(out.shape[0]):
        found, row = 1, out[start]
        queue[0], row[start] = start, 0
        for place in range(out.shape[0]):
            if place == found:
                break
            node = queue[place]
            for e in range(indptr[node], indptr[node + 1]):
                if row[indices[e]] == _UNREACHED:
                    row[indices[e]] = row[node] + 1
                    queue[found] = indices[e]
                    found += 1
