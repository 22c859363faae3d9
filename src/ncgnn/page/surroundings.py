"""Distances and edges around a node."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from torch_geometric.data import Data

FARTHEST = 4
"""Steps that are counted; what lies farther away is only said to."""


class Surroundings:
    """The edges of a graph, without their weights."""

    def __init__(self, data: Data) -> None:
        source, target = data.edge_index.numpy()
        ones = np.ones(source.size, dtype=np.int8)
        self.adjacency = sp.csr_array((ones, (source, target)), shape=(data.num_nodes, data.num_nodes))

    def distances(self, node: int, others: Sequence[int]) -> list[int | None]:
        """Steps from a node to others; ``None`` where they are too many, or there is no way."""
        steps = dijkstra(self.adjacency, unweighted=True, indices=node, limit=FARTHEST)[list(others)]
        return [int(count) if np.isfinite(count) else None for count in steps]

    def links(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        """The edges among nodes, by their places in the list; each edge once."""
        inside = sp.coo_array(self.adjacency[list(nodes)][:, list(nodes)])
        pairs = zip(inside.row.tolist(), inside.col.tolist(), strict=True)
        return sorted({(a, b) for a, b in pairs if a < b})
