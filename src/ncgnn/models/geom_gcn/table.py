"""Structural neighbourhoods: who is close in the graph and in a plane, and in which direction."""

import hashlib
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from torch_geometric.data import Data

from ncgnn.data.named.download import cache_folder
from ncgnn.models.base.cached import read_cached, write_cached
from ncgnn.models.base.filter_cache import digest_of_edges, filter_folder
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.geom_gcn.by_isomap import isomap
from ncgnn.models.geom_gcn.by_poincare import poincare
from ncgnn.models.geom_gcn.by_struc2vec import struc2vec

EMBEDDINGS: dict[str, Callable[[sp.csr_array], np.ndarray]] = {
    "isomap": isomap,
    "poincare": poincare,
    "struc2vec": struc2vec,
}
_VERSION = 1  # to be raised when an embedding changes
_GRAPH, _PLANE = 0, 1
_RELATIONS = 2
_DIRECTIONS = 4


def neighbourhoods(data: Data, embedding: str) -> np.ndarray:
    """Rows ``node, neighbour, space, relation``: the published ones if the graph has them, otherwise our own, which are
    kept in the cache folder."""
    published = (data.get("neighbourhoods") or {}).get(embedding)
    if published is not None and _is_of(published, data):
        return np.asarray(published)
    key = f"{embedding} {_VERSION} {data.num_nodes} {digest_of_edges(data.edge_index, None)}"
    folder = None if filter_folder() is None else cache_folder() / "neighbourhoods"
    path = None if folder is None else folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"
    found = None if path is None else read_cached(path, key, ["rows"], lambda arrays: _check(arrays[0], data))
    if found is not None:
        return found[0]
    rows = own_neighbourhoods(plain_adjacency(data), EMBEDDINGS[embedding])
    if path is not None:
        write_cached(path, key, {"rows": rows})
    return rows


def own_neighbourhoods(a: sp.csr_array, embedding: Callable[[sp.csr_array], np.ndarray]) -> np.ndarray:
    """Neighbours in the graph, and as many pairs of nodes that are closest in the plane."""
    links = sp.csr_array((a + a.T) != 0, dtype=float)
    places = embedding(links)
    near = closest_pairs(places, links.nnz // 2)
    in_graph = np.stack(sp.coo_array(a).coords, axis=1)
    tables = [(_GRAPH, in_graph), (_PLANE, np.concatenate([near, near[:, ::-1]]))]
    return np.concatenate(
        [np.column_stack([pairs, np.full(len(pairs), space), relations(places, pairs)]) for space, pairs in tables]
    ).astype(np.int32)


def relations(places: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """In which of four directions the neighbour lies, as seen from the node."""
    node, neighbour = places[pairs[:, 0]], places[pairs[:, 1]]
    right, above = (neighbour > node).T
    return np.asarray(2 * right.astype(np.int64) + above)


def closest_pairs(places: np.ndarray, number: int) -> np.ndarray:
    """The pairs of nodes [number, 2] that are closest to each other."""
    n = len(places)
    number = min(number, n * (n - 1) // 2)
    if not number:
        return np.empty((0, 2), np.int64)
    tree, low, high = cKDTree(places), 0.0, float(np.ptp(places, axis=0).sum()) or 1.0
    for _ in range(40):  # halves of a radius within which there are enough pairs
        middle = (low + high) / 2
        is_enough = (tree.count_neighbors(tree, middle) - n) // 2 >= number
        low, high = (low, middle) if is_enough else (middle, high)
    pairs = tree.query_pairs(high, output_type="ndarray")
    apart = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], apart))
    return np.asarray(pairs[order[:number]])


def _is_of(rows: np.ndarray, data: Data) -> bool:
    """Whether the neighbours in the graph are its edges."""
    n = int(data.num_nodes or 0)
    given = rows[rows[:, 2] == _GRAPH].astype(np.int64)
    target, source = data.edge_index.cpu().numpy()[::-1]
    return np.array_equal(np.unique(given[:, 0] * n + given[:, 1]), np.unique(target * n + source))


def _check(rows: np.ndarray, data: Data) -> None:
    """:class:`ValueError` unless the rows are of this graph."""
    if rows.dtype.kind != "i" or rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError("it is not a table of neighbours")
    if (rows < 0).any() or (rows >= [int(data.num_nodes or 0)] * 2 + [_RELATIONS, _DIRECTIONS]).any():
        raise ValueError("it names nodes or relations that do not exist")
