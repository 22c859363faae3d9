"""The links of each node, in files."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ncgnn.batches.scratch import scratch
from ncgnn.sparse.kernels import Array, compiled


class Links:
    """Edges [2, E] by the node that they start at: reading those of a node takes no memory that grows with the graph.

    Args:
        edge_index: each edge in both directions.
        num_nodes: of the graph.
        folder: where to.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int, folder: Path) -> None:
        source, target = edge_index.numpy()
        self._first = scratch(folder, num_nodes + 1, dtype=torch.int64).numpy()
        self._ends = scratch(folder, len(source), dtype=torch.int32).numpy()
        _sort(source, target, self._first, scratch(folder, num_nodes, dtype=torch.int64).numpy(), self._ends)

    def of(self, node: int) -> set[int]:
        """The nodes that a node is linked with, without itself."""
        found: list[int] = self._ends[self._first[node] : self._first[node + 1]].tolist()
        return set(found) - {node}

    def among(self, node: int, nodes: np.ndarray) -> set[int]:
        """The same as places among the ascending ``nodes``; numbers from their number on stand for all others."""
        linked = np.array(sorted(self.of(int(nodes[node]))), np.int64)
        places = np.searchsorted(nodes, linked)
        is_outside = nodes[np.minimum(places, len(nodes) - 1)] != linked
        return set(np.where(is_outside, len(nodes) + linked, places).tolist())


@compiled
def _sort(source: Array, target: Array, first: Array, filled: Array, ends: Array) -> None:
    """Counting sort."""
    for node in source:
        first[node + 1] += 1
    for node in range(filled.shape[0]):
        first[node + 1] += first[node]
    for e in range(source.shape[0]):
        node = source[e]
        ends[first[node] + filled[node]] = target[e]
        filled[node] += 1
