"""struc2vec (Ribeiro et al., 2017): nodes are close if the degrees around them are alike, wherever they are."""

import math

import numpy as np
import scipy.sparse as sp

from ncgnn.models.geom_gcn.by_skip_gram import skip_gram
from ncgnn.sparse.kernels import compiled

_LAYERS = 3  # rings of degrees that are compared: the node, its neighbours, and theirs
_WALKS, _LENGTH = 10, 40
_STAY = 0.3  # probability of a step within a layer

Rings = tuple[np.ndarray, np.ndarray, np.ndarray]


def struc2vec(a: sp.csr_array) -> np.ndarray:
    """Places of the nodes [N, 2]: a skip-gram of random walks over similar nodes."""
    pairs = candidates(np.diff(a.indptr))
    apart = np.cumsum([_apart(pairs, *rings(a, hops)) for hops in range(_LAYERS)], axis=0)
    walks = _walks(a.shape[0], pairs, np.exp(-apart))
    return skip_gram(walks, a.shape[0])


def candidates(degrees: np.ndarray) -> np.ndarray:
    """Pairs of nodes [pairs, 2] whose degrees are next to each other when sorted: about log2(N) on each side."""
    order = np.argsort(degrees, kind="stable")
    reach = min(max(int(np.log2(len(order))), 1), len(order) - 1)
    found = [np.stack([order[:-shift], order[shift:]], axis=1) for shift in range(1, reach + 1)]
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def rings(a: sp.csr_array, hops: int) -> Rings:
    """The distinct degrees of the nodes at a distance of exactly ``hops``, sorted, and how often each occurs: starts of
    the nodes, degrees, counts."""
    degrees, n = np.diff(a.indptr), a.shape[0]
    ring = within = sp.csr_array(sp.eye_array(n))
    one = sp.csr_array(a != 0, dtype=float)
    for _ in range(hops):
        reached = sp.csr_array((ring @ one) != 0, dtype=float)
        ring = sp.csr_array(reached - reached * within)
        ring.eliminate_zeros()
        within = sp.csr_array((within + ring) != 0, dtype=float)
    coo = sp.coo_array(ring)
    counts = sp.csr_array((np.ones(coo.nnz), (coo.row, degrees[coo.col])), shape=(n, int(degrees.max(initial=0)) + 1))
    counts.sort_indices()
    return counts.indptr.astype(np.int64), counts.indices.astype(np.float64), counts.data


@compiled
def _apart(pairs: np.ndarray, starts: np.ndarray, degrees: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The cost of dynamic time warping between the degrees of both nodes of each pair."""
    out = np.zeros(pairs.shape[0])
    for p in range(pairs.shape[0]):
        u, v = pairs[p]
        first, second = slice(starts[u], starts[u + 1]), slice(starts[v], starts[v + 1])
        out[p] = warped(degrees[first], counts[first], degrees[second], counts[second])
    return out


@compiled
def warped(a: np.ndarray, of_a: np.ndarray, b: np.ndarray, of_b: np.ndarray) -> float:
    """Dynamic time warping of two sorted sequences, each value with how often it occurs; the cost of a match is the
    ratio of the values less one, as often as the rarer of the two does not occur alone."""
    if a.shape[0] == 0 or b.shape[0] == 0:
        return float(of_a.sum() + of_b.sum())
    above, row = np.full(b.shape[0] + 1, np.inf), np.full(b.shape[0] + 1, np.inf)
    above[0] = 0.0
    for i in range(a.shape[0]):
        row[0] = np.inf
        for j in range(b.shape[0]):
            most, least = max(a[i], b[j]), max(min(a[i], b[j]), 1.0)
            cost = (most / least - 1) * max(of_a[i], of_b[j])
            row[j + 1] = cost + min(above[j + 1], row[j], above[j])
        above, row = row, above
    return float(above[b.shape[0]])


def _walks(n: int, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Random walks [walks, length] over the layers: similar nodes follow each other, and a node with many similar ones
    moves up, where more is compared."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.argsort(both[:, 0], kind="stable")
    starts = np.searchsorted(both[order, 0], np.arange(n + 1))
    ends = both[order, 1]
    layered = np.concatenate([weights, weights], axis=1)[:, order]
    cumulated = np.cumsum(layered, axis=1)
    similar = layered > layered.mean(axis=1, keepdims=True)
    many = np.add.reduceat(np.pad(similar, ((0, 0), (0, 1))).astype(float), starts[:-1], axis=1)
    up = np.log(many + math.e)
    uniform = np.random.default_rng(0).random((n * _WALKS, _LENGTH, 2))
    return walked(starts, ends, cumulated, up / (1 + up), uniform)


@compiled
def walked(
    starts: np.ndarray, ends: np.ndarray, cumulated: np.ndarray, up: np.ndarray, uniform: np.ndarray
) -> np.ndarray:
    """A walk for each row of random numbers; the first ones start at each node in turn."""
    n, layers = starts.shape[0] - 1, cumulated.shape[0]
    out = np.empty(uniform.shape[:2], np.int64)
    for w in range(uniform.shape[0]):
        node, layer = w % n, 0
        for step in range(uniform.shape[1]):
            out[w, step] = node
            kind, where = uniform[w, step]
            first, last = starts[node], starts[node + 1]
            if kind >= _STAY:  # another layer
                is_up = (kind - _STAY) / (1 - _STAY) < up[layer, node]
                layer = min(layer + 1, layers - 1) if is_up else max(layer - 1, 0)
            elif last > first:
                below = cumulated[layer, first - 1] if first else 0.0
                goal = below + where * (cumulated[layer, last - 1] - below)
                found = first + np.searchsorted(cumulated[layer, first:last], goal)
                node = ends[min(found, last - 1)]
    return out
