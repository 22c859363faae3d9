"""The receptive field of a node under a filter, as a small graph."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import shortest_path
from torch_geometric.data import Data

from ncgnn.experiments.figures.models import Shown
from ncgnn.explain.contributions import row
from ncgnn.sparse import normalized_adjacency

TOP = 32
"""Maximum number of neighbours to draw; more would be unreadable."""


def adjacency(data: Data) -> Any:
    """Binary adjacency matrix, symmetrised."""
    size = int(data.num_nodes or 0)
    source, target = data.edge_index.numpy()
    a = sp.coo_array((np.ones(source.size), (source, target)), shape=(size, size)).tocsr()
    a = ((a + a.T) > 0).astype(float)
    a.setdiag(0)
    a.eliminate_zeros()
    return a


def gcn_row(data: Data, node: int, layers: int) -> np.ndarray:
    """Total propagation weight of each node's features to this one through all layers of a GCN."""
    a = normalized_adjacency(data.edge_index, int(data.num_nodes or 0), data.get("edge_weight"))
    row = np.eye(1, a.shape[0], node)
    for _ in range(layers):
        row = (a.T @ row.T).T
    out: np.ndarray = row[0]
    return out


@torch.no_grad()
def filter_row(shown: Shown, node: int) -> np.ndarray:
    """The row of the learned filter."""
    prepared = shown.inputs.arguments[1]
    return row(shown.module.filter(prepared), node).numpy()


def strongest(weights: np.ndarray, node: int, top: int = TOP) -> np.ndarray:
    """The other nodes with the largest weights, largest first; ties are broken by number."""
    others = np.where(np.arange(len(weights)) == node, 0.0, weights)
    order = np.argsort(-others, kind="stable")[:top]
    chosen: np.ndarray = order[others[order] > 0]
    return chosen


def ego_tables(data: Data, node: int, weights: Mapping[str, np.ndarray]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nodes and edges around the node for each row of weights; the node itself comes first."""
    a = adjacency(data)
    far = shortest_path(a, unweighted=True, indices=node)
    fields = {panel: np.concatenate([[node], strongest(row, node)]) for panel, row in weights.items()}
    nodes = [_nodes(panel, data, members, far, weights[panel]) for panel, members in fields.items()]
    edges = [_edges(panel, data, members, a) for panel, members in fields.items()]
    return pd.concat(nodes, ignore_index=True), pd.concat(edges, ignore_index=True)


def _nodes(panel: str, data: Data, members: np.ndarray, far: np.ndarray, weights: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "panel": panel,
            "node": [data.node_ids[i] for i in members],
            "class": [data.class_names[c] if c >= 0 else "" for c in data.y.numpy()[members]],
            "distance": far[members].astype(int),
            "weight": weights[members].astype(float).round(6),
        }
    )


def _edges(panel: str, data: Data, members: np.ndarray, a: Any) -> pd.DataFrame:
    source, target = sp.triu(a[members][:, members]).nonzero()
    ends = {"source": members[source], "target": members[target]}
    return pd.DataFrame({"panel": panel} | {end: [data.node_ids[i] for i in places] for end, places in ends.items()})
