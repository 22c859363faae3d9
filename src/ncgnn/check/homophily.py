"""Homophily of a graph, and what it means for the choice of hops."""

from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import scipy.sparse as sp

from ncgnn.check.view import Finding, View
from ncgnn.data import statistics

TELLING = 0.1


@dataclass(frozen=True)
class Homophily:
    """Agreement of labels along edges whose two ends have a label; nan if there are no such edges.

    Attributes:
        edge: fraction of edges within a class.
        node: mean over nodes of the fraction of neighbours in the node's class.
        adjusted: ``edge`` corrected for chance: 0 if the ends of an edge agree as often as expected from their degrees,
            1 if they always agree, below 0 if they agree less often than expected (Platonov et al., "Characterizing
            graph datasets for node classification", 2023).
        two_steps: the same for two different neighbours of one node, weighted by one over its degree as in a random
            walk.
        edges: number of edges with a label at both ends.
    """

    edge: float
    node: float
    adjusted: float
    two_steps: float
    edges: int

    @property
    def meaning(self) -> str:
        """What this means for the setting ``hops``."""
        if not self.edges:
            return "No edge connects two labelled nodes, so there is no advice on hops."
        if isnan(self.adjusted):
            return "All connected labelled nodes have the same class, so there is no advice on hops."
        if self.adjusted >= 0.4:
            return (
                "Neighbours mostly share a class; the default (hops 0 to 3) should work well, and more hops may help."
            )
        if self.adjusted < TELLING <= self.two_steps:
            return (
                "Nodes two hops apart agree more than neighbours; compare the default (hops 0 to 3) with hops = 3,"
                " which drops the node's own features: better on some such graphs, far worse on others."
            )
        if self.adjusted >= TELLING:
            return "Neighbours help but often differ; use the node itself and few hops (hops = [0, 1, 2])."
        return "Labels of neighbours say little; use hops = [0, 1, 2], and compare with a model without edges."


def measure_homophily(view: View) -> Homophily:
    found = statistics(view.data)
    adjacency = view.adjacency.astype(bool).astype(np.float64)
    labelled = np.flatnonzero(view.y >= 0)
    shape = (view.num_nodes, max(1, len(view.data.class_names)))
    classes = sp.csr_array((np.ones(len(labelled)), (labelled, view.y[labelled])), shape=shape)
    around = adjacency @ classes  # number of neighbours per node and class
    return Homophily(
        found.edge_homophily,
        found.node_homophily,
        _adjusted(classes, around.sum(axis=1), float(classes.multiply(around).sum())),
        _two_steps(adjacency, classes, around),
        int(around.sum(axis=1)[labelled].sum()) // 2,
    )


def _two_steps(adjacency: sp.csr_array, classes: sp.csr_array, around: sp.csr_array) -> float:
    """Agreement of all pairs of different labelled neighbours of a node."""
    degree = np.maximum(np.diff(adjacency.indptr), 1)
    labelled = around.sum(axis=1)
    weight = adjacency @ ((labelled - 1).clip(min=0) / degree)  # of a node in pairs
    agreeing = float(((around.power(2).sum(axis=1) - labelled) / degree).sum())
    return _adjusted(classes, weight, agreeing)


def _adjusted(classes: sp.csr_array, weight: np.ndarray, agreeing: float) -> float:
    """The agreeing fraction of the total ``weight``, corrected for the agreement expected by chance."""
    of_class = classes.T @ weight
    if not of_class.sum():
        return nan
    chance = float(((of_class / of_class.sum()) ** 2).sum())
    return float((agreeing / of_class.sum() - chance) / (1 - chance)) if chance < 1 else nan


def homophily_findings(found: Homophily) -> list[Finding]:
    if isnan(found.adjusted) or max(found.adjusted, found.two_steps) >= TELLING:
        return []
    return [
        Finding(
            name="no homophily",
            level="note",
            what=f"labels of neighbours agree little more than by chance: adjusted homophily {found.adjusted:.2f},"
            f" two-hop {found.two_steps:.2f}",
            count=0,
            first=[],
            why="a model that uses features only may be just as good",
            advice="include the node itself (hops = [0, 1, 2]) and compare with a model that ignores edges",
        )
    ]
