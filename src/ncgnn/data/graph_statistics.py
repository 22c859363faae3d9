"""The statistics of the paper's table 1."""

from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.graph import merge_edges, num_classes


@dataclass(frozen=True)
class Statistics:
    """Size and homophily of a graph.

    ``edge_homophily`` is the fraction of edges between nodes of the same class (the paper's table 1).
    ``node_homophily`` is the mean over nodes of the fraction of neighbours in the node's class (the paper's eq. 2).
    Nodes without a label are ignored, for the latter also nodes without neighbours; nan if no nodes are left.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    edge_homophily: float
    node_homophily: float
    isolated: int


def statistics(data: Data) -> Statistics:
    """Count nodes, undirected edges without self-loops, features, classes, isolated nodes; measure homophily."""
    nodes = int(data.num_nodes or 0)
    pairs = np.zeros((0, 2), np.int64) if data.edge_index is None else data.edge_index.numpy().T
    edges, _ = merge_edges(pairs, nodes)
    y = np.full(nodes, -1) if data.y is None else data.y.numpy()
    edge, node = _homophily(edges, y)
    return Statistics(
        nodes=nodes,
        edges=len(edges),
        features=0 if data.x is None else data.x.shape[1],
        classes=num_classes(data),
        edge_homophily=edge,
        node_homophily=node,
        isolated=nodes - len(np.unique(edges)),
    )


def _homophily(edges: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    edges = edges[(y[edges] >= 0).all(axis=1)]
    if not len(edges):
        return float("nan"), float("nan")
    same = y[edges[:, 0]] == y[edges[:, 1]]
    degree = np.bincount(edges.ravel(), minlength=len(y))
    agreeing = np.bincount(edges[same].ravel(), minlength=len(y))
    linked = degree > 0
    return float(same.mean()), float((agreeing[linked] / degree[linked]).mean())
