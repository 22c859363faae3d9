"""Gradient boosting on the features of a node and of its neighbours (scikit-learn)."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from torch import Tensor

from ncgnn.data.graph import feature_matrix
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.boosting import MOST_FEATURES, Boosting, BoostingSettings, Trees
from ncgnn.train.inputs import Inputs


class NeighbourSettings(BoostingSettings):
    """The settings of boosting with neighbours."""

    identity: ClassVar[str] = "neighbour-boosting"


class NeighbourTrees(Trees):
    """Trees that split a node's features, what its neighbours have of them, and its degree. What neighbours have is
    missing where there are none; ``missing_go_to_left`` [trees, nodes] says which branch such a node belongs to."""

    parts = (*Trees.parts, "missing_go_to_left")

    @staticmethod
    def columns(reduction: np.ndarray, x: sp.csr_array, a: sp.csr_array) -> np.ndarray:  # type: ignore[override]
        own = Trees.columns(reduction, x).astype(np.float64)
        return np.hstack([own, *around(own, a, with_extremes=x.shape[1] <= MOST_FEATURES)])

    @staticmethod
    def goes_left(values: Tensor, at: Mapping[str, Tensor], place: tuple[Tensor, Tensor]) -> Tensor:
        return Trees.goes_left(values, at, place) | (values.isnan() & at["missing_go_to_left"][place].bool())


class NeighbourBoosting(Boosting):
    """Boosting on a table with columns for the neighbours: mean, minimum and maximum of each feature, and the degree.
    Of many features, e.g. words, which are reduced, only the mean."""

    name, title, settings_class = "neighbour-boosting", "boosting with neighbours", NeighbourSettings
    knows = "both"
    rival = 4
    in_search = True
    trees = NeighbourTrees

    def prepare(self, graph: PreparedGraph, settings: BoostingSettings) -> Inputs:
        return Inputs((feature_matrix(graph.data.x), plain_adjacency(graph.data)))

    def candidates(self) -> list[BoostingSettings]:
        """Small leaves, which suit few labels, and scikit-learn's, each with both reductions of many features."""
        tried = (5, "columns"), (20, "directions"), (5, "directions"), (20, "columns")
        return [NeighbourSettings.make({"leaf": leaf, "reduction": reduction}) for leaf, reduction in tried]


def around(x: np.ndarray, a: sp.csr_array, with_extremes: bool) -> list[np.ndarray]:
    """Degree [N, 1], mean [N, d], weighted by the edges, and minimum and maximum of the neighbours' ``x`` [N, d]; of a
    node without neighbours, all but the degree are not a number."""
    degree = a.sum(axis=1)[:, None]
    with np.errstate(invalid="ignore"):
        mean = (a @ x) / degree
    extremes = [_over_neighbours(extreme, x, a) for extreme in (np.minimum, np.maximum)] if with_extremes else []
    return [degree, mean, *extremes]


def _over_neighbours(extreme: np.ufunc, x: np.ndarray, a: sp.csr_array) -> np.ndarray:
    """The extreme of the neighbours' ``x``, column by column, since the values of all edges at once are many."""
    out, some = np.full(x.shape, np.nan), np.diff(a.indptr) > 0
    if some.any():
        for column in range(x.shape[1]):
            out[some, column] = extreme.reduceat(x[a.indices, column], a.indptr[:-1][some])
    return out


MODEL = NeighbourBoosting()
