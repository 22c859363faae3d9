"""The edges of a graph without their weights: who is linked to whom, and how far away a node is."""

from collections.abc import Sequence
from functools import cached_property

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

    def neighbours(self, node: int) -> set[int]:
        """The nodes that a node is linked to or from, without itself."""
        return {*self._row(self.adjacency, node), *self._row(self._transposed, node)} - {node}

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return sp.csr_array(self.adjacency.T)

    @staticmethod
    def _row(matrix: sp.csr_array, node: int) -> list[int]:
        start, stop = matrix.indptr[node : node + 2]
        found: list[int] = matrix.indices[start:stop].tolist()
        return found

    def distances(self, node: int, others: Sequence[int]) -> list[int | None]:
        """Steps from a node to others; ``None`` where they are too many, or there is no way."""
        steps = dijkstra(self.adjacency, unweighted=True, indices=node, limit=FARTHEST)[list(others)]
        return [int(count) if np.isfinite(count) else None for count in steps]

    def links(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        """The edges among nodes, by their places in the list; each edge once."""
        inside = sp.coo_array(self.adjacency[list(nodes)][:, list(nodes)])
        pairs = zip(inside.row.tolist(), inside.col.tolist(), strict=True)
        return sorted({(a, b) for a, b in pairs if a < b})
