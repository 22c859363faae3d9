"""Features made from the edges, for graphs whose nodes have none."""

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

POSITIONS = 8
_CHUNK = 100_000  # edges at a time
_DAMPING, _STEPS = 0.85, 50


def structure(edge_index: Tensor, num_nodes: int) -> dict[str, np.ndarray]:
    """Columns by name, a value for each node: degree, PageRank, clustering, and the place in the graph.

    Places are singular vectors of the normalised adjacency matrix, without the first, which repeats the degree. They
    are the same for the same graph; those of another one are not comparable.

    Args:
        edge_index: in both directions.
        num_nodes: number of nodes.
    """
    ends = edge_index.numpy()[:, edge_index[0].numpy() != edge_index[1].numpy()]
    a = sp.csr_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(num_nodes, num_nodes))
    a.data[:] = 1.0
    degree = np.asarray(a.sum(axis=1)).ravel()
    columns = {
        "degree (log)": np.log1p(degree),
        "PageRank (log)": np.log(num_nodes * pagerank(a, degree)),
        "clustering": clustering(a, degree),
    }
    return columns | {f"position {i + 1}": column for i, column in enumerate(positions(a, degree).T)}


def is_structure(name: str) -> bool:
    """Whether a column of this name is one of :func:`structure`."""
    return name in ("degree (log)", "PageRank (log)", "clustering") or name.startswith("position ")


def told(columns: dict[str, np.ndarray]) -> str:
    """What was made, for a message."""
    positions = sum(name.startswith("position ") for name in columns)
    return f"made features from the edges: degree, PageRank, clustering and {positions} of position"


def scaled(columns: dict[str, np.ndarray]) -> Tensor:
    """The columns [N, columns] with mean 0 and deviation 1."""
    x = np.column_stack(list(columns.values()))
    deviation = x.std(axis=0)
    return torch.from_numpy(((x - x.mean(axis=0)) / np.where(deviation > 1e-9, deviation, 1)).astype(np.float32))


def pagerank(a: sp.csr_array, degree: np.ndarray) -> np.ndarray:
    """The shares of a random surfer's time [N]; from a node without edges, it goes anywhere."""
    nodes = len(degree)
    rank = np.full(nodes, 1 / nodes)
    for _ in range(_STEPS):
        lost = rank[degree == 0].sum()
        moved = a.T @ np.divide(rank, degree, out=np.zeros(nodes), where=degree > 0)
        rank = _DAMPING * (moved + lost / nodes) + (1 - _DAMPING) / nodes
    return rank


def clustering(a: sp.csr_array, degree: np.ndarray) -> np.ndarray:
    """The share of pairs of neighbours that are linked [N].

    Each triangle is found once, at the edge between the two of its nodes that have fewest neighbours, so that hubs do
    not cost the square of their degree.
    """
    order = np.lexsort((np.arange(len(degree)), degree))
    place = np.empty(len(degree), np.int64)
    place[order] = np.arange(len(degree))
    rows, columns = a.nonzero()
    up = place[rows] < place[columns]
    rows, columns = rows[up], columns[up]
    upward = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=a.shape)
    triangles = np.zeros(len(degree))
    for start in range(0, len(rows), _CHUNK):
        first, second = rows[start : start + _CHUNK], columns[start : start + _CHUNK]
        common = upward[first].multiply(upward[second])
        found = np.asarray(common.sum(axis=1)).ravel()
        np.add.at(triangles, first, found)
        np.add.at(triangles, second, found)
        triangles += np.asarray(common.sum(axis=0)).ravel()
    pairs = degree * (degree - 1) / 2
    shares: np.ndarray = np.divide(triangles, pairs, out=np.zeros(len(degree)), where=pairs > 0)
    return shares


def positions(a: sp.csr_array, degree: np.ndarray) -> np.ndarray:
    """Left singular vectors [N, at most 8], times their singular values and the root of N."""
    from sklearn.utils.extmath import randomized_svd

    count = min(POSITIONS, len(degree) - 2)
    if count < 1 or not degree.any():
        return np.empty((len(degree), 0))
    root = sp.diags_array(np.divide(1, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0))
    left, values, _ = randomized_svd(root @ a @ root, count + 1, n_iter=7, random_state=0)
    found: np.ndarray = (left * values)[:, 1:] * np.sqrt(len(degree))
    return found
