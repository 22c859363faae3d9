"""The form of a graph used by the checks."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from torch_geometric.data import Data

from ncgnn.data import complete
from ncgnn.data.graph import SPLITS, feature_matrix


@dataclass(frozen=True, eq=False)
class View:
    """A graph with names, and with features and edges as matrices; ``is_split`` is whether it has a split."""

    data: Data
    is_split: bool

    @classmethod
    def of(cls, data: Data) -> "View":
        masks = [data.get(key) for key in SPLITS]
        return cls(complete(data), all(mask is not None and mask.dim() == 1 for mask in masks))

    @property
    def num_nodes(self) -> int:
        return int(self.data.num_nodes or 0)

    @cached_property
    def x(self) -> sp.csr_array:
        return feature_matrix(self.data.x)

    @cached_property
    def y(self) -> np.ndarray:
        labels: np.ndarray = self.data.y.numpy()
        return labels

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """Edge weights, 1 by default; without self-loops, which every filter adds itself."""
        source, target = self.data.edge_index.numpy()
        weight = self.data.get("edge_weight")
        values = np.ones(len(source), np.float32) if weight is None else weight.numpy().astype(np.float32)
        keep = source != target
        ends = (source[keep].astype(np.int32), target[keep].astype(np.int32))
        return sp.csr_array((values[keep], ends), shape=(self.num_nodes, self.num_nodes))

    @cached_property
    def degree(self) -> np.ndarray:
        counts: np.ndarray = np.diff(self.adjacency.indptr)
        return counts

    def members(self, key: str) -> np.ndarray:
        """The nodes in the mask called ``key``."""
        mask: np.ndarray = self.data[f"{key}_mask"].numpy()
        return mask

    def ids(self, nodes: Iterable[int]) -> list[str]:
        return [str(self.data.node_ids[node]) for node in nodes]
