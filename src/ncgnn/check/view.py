"""What the checks read and what they return: a form of the graph, and findings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp
from torch_geometric.data import Data

from ncgnn.data import complete
from ncgnn.data.graph import SPLITS, feature_matrix

Level = Literal["serious", "warning", "note"]
LEVELS: tuple[Level, ...] = ("serious", "warning", "note")
SHOWN = 5


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


@dataclass(frozen=True)
class Finding:
    """One problem found before training.

    Attributes:
        name: the kind of finding, the same in every graph.
        level: ``serious`` if results will be misleading, ``warning`` if they may be, else ``note``.
        what: what was found.
        count: number of nodes, features or classes concerned.
        first: names of the first of them.
        why: why it matters.
        advice: what to do.
        options: the parameters and settings that the advice refers to.
    """

    name: str
    level: Level
    what: str
    count: int
    first: Sequence[str]
    why: str
    advice: str
    options: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", [str(name) for name in self.first[:SHOWN]])
