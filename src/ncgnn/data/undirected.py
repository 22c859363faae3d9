"""A PyG graph as every graph of this library is: edges in both directions, each once, no self-loops."""

from copy import copy

from torch_geometric.data import Data
from torch_geometric.utils import is_undirected

from ncgnn.data.complete import check_ends, complete
from ncgnn.data.graph import both_directions, merge_edges
from ncgnn.errors import InputError


def undirected(data: Data) -> Data:
    """A copy with merged edges and with names; weights of the two directions are summed where they differ."""
    if data.edge_index is None or data.x is None:
        raise InputError("the graph needs node features x [nodes, features] and an edge_index [2, edges]")
    nodes, weight = data.x.shape[0], data.get("edge_weight")
    check_ends(data.edge_index, nodes)
    pairs = data.edge_index.numpy().T
    weights = None if weight is None else weight.numpy()
    if is_undirected(data.edge_index, weight, nodes):  # then each edge is there twice, and counts once
        once = pairs[:, 0] <= pairs[:, 1]
        pairs, weights = pairs[once], None if weights is None else weights[once]
    out = copy(data)
    out.edge_index, edge_weight = both_directions(*merge_edges(pairs, nodes, weights))
    if edge_weight is not None:
        out.edge_weight = edge_weight
    return complete(out)
