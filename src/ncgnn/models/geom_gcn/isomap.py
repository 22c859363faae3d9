"""Isomap (Tenenbaum et al., 2000) of a graph: a plane in which distances are close to numbers of hops."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import LinearOperator, eigsh

_ROWS = 512  # nodes whose distances are computed at a time: distances in float64 would fill the memory


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
    n = a.shape[0]
    out = np.empty((n, n), np.uint16)
    unreached = np.iinfo(out.dtype).max
    for start in range(0, n, _ROWS):
        chosen = np.arange(start, min(start + _ROWS, n))
        found = shortest_path(a, directed=False, unweighted=True, indices=chosen)
        out[chosen] = np.where(np.isinf(found), unreached, found)
    out[out == unreached] = out[out != unreached].max() + 1
    return out
