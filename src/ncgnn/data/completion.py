"""Check any PyG graph and add the names and edge directions that the rest of the library expects."""

import warnings
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.utils import is_undirected, to_undirected

from ncgnn.data.edge_tables import check_edge_tables
from ncgnn.data.graph import both_directions, merge_edges, num_classes
from ncgnn.data.names import check_text
from ncgnn.data.structure import scaled, structure, told
from ncgnn.errors import InputError

_OF_GRAPH = ("x", "edge_index", "edge_weight", "y", "node_ids", "node_titles", "class_names", "feature_names")


def complete(data: Data) -> Data:
    """A shallow copy with finite float features, edges in both directions, and default names for unnamed classes,
    features and nodes."""
    check_kind(data)
    if _is_checked(data):
        return copy(data)
    data = with_features(data)
    if data.x is None or data.edge_index is None or data.x.dim() != 2:
        raise InputError("the graph needs node features x [nodes, features] and an edge_index [2, edges]")
    if 0 in data.x.shape:
        raise InputError(f"the graph is empty: {data.x.shape[0]} nodes with {data.x.shape[1]} features")
    _check_edges(data)
    if data.get("edge_tables") is not None:
        check_edge_tables(data.edge_tables, data.x.shape[0])
    out = copy(data)
    out.x = _float_features(data.x)
    out.num_nodes = data.x.shape[0]
    out.y = _labels(data)
    _name_parts(out)
    if data.get("edge_attr") is not None:
        warnings.warn("edge_attr is not used: give weights of edges as edge_weight [edges]", UserWarning, stacklevel=2)
    if not is_undirected(data.edge_index, data.get("edge_weight"), data.x.shape[0]):
        _merge_directions(out)
    return out


def checked(data: Data) -> Data:
    """A graph that was complete when it was stored, and need not be looked through again, which takes as much memory as
    the graph itself; until one of its parts is replaced."""
    data.checked = {key: data[key] for key in _OF_GRAPH if key in data}
    return data


def _is_checked(data: Data) -> bool:
    parts = data.get("checked")
    return parts is not None and all(data.get(key) is parts.get(key) for key in _OF_GRAPH)


def undirected(data: Data) -> Data:
    """A copy with merged edges and with names; if the weights of the two directions differ, they are summed.

    Edge tables keep their directions.
    """
    check_kind(data)
    data = with_features(data)
    if data.edge_index is None or data.x is None:
        raise InputError("the graph needs node features x [nodes, features] and an edge_index [2, edges]")
    _check_ends(data.edge_index, data.x.shape[0])
    out = copy(data)
    _merge_directions(out)
    return complete(out)


def check_kind(data: object) -> None:
    """Refuse graphs with several kinds of nodes."""
    if isinstance(data, HeteroData):
        raise InputError(
            "a HeteroData has several kinds of nodes, and ncgnn classifies nodes of one kind: pass a Data with one kind"
            " of nodes and their edges, or data.to_homogeneous()"
        )


def with_features(data: Data) -> Data:
    """The graph or, if its nodes have no features, a copy with features made from its edges."""
    if data.x is not None or data.edge_index is None:
        return data
    labelled = 0 if data.y is None else len(data.y)
    nodes = data.num_nodes if "num_nodes" in data else labelled
    if not nodes:
        return data
    _check_ends(data.edge_index, nodes)
    columns = structure(to_undirected(data.edge_index, num_nodes=nodes), nodes)
    warnings.warn(f"the nodes have no features: {told(columns)}", UserWarning, stacklevel=3)
    out = copy(data)
    out.x, out.feature_names = scaled(columns), list(columns)
    return out


def _merge_directions(out: Data) -> None:
    """Each edge once in each direction; weights of its two directions are summed where they differ."""
    nodes, weight = out.x.shape[0], out.get("edge_weight")
    pairs = out.edge_index.numpy().T
    weights = None if weight is None else weight.numpy()
    if is_undirected(out.edge_index, weight, nodes):  # then each edge is listed twice but counts once
        once = pairs[:, 0] <= pairs[:, 1]
        pairs, weights = pairs[once], None if weights is None else weights[once]
    out.edge_index, edge_weight = both_directions(*merge_edges(pairs, nodes, weights))
    if edge_weight is not None:
        out.edge_weight = edge_weight


def _check_edges(data: Data) -> None:
    _check_ends(data.edge_index, data.x.shape[0])
    weight = data.get("edge_weight")
    if weight is not None:
        if weight.shape != data.edge_index.shape[1:]:
            raise InputError(f"edge_weight has shape {tuple(weight.shape)} for {data.edge_index.shape[1]} edges")
        if not (torch.isfinite(weight) & (weight > 0)).all():
            raise InputError("edge_weight must be finite and positive")


def _check_ends(ends: Tensor, nodes: int) -> None:
    """Check that all edges connect existing nodes."""
    if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < nodes:
        wrong = int(ends.max()) if int(ends.min()) >= 0 else int(ends.min())
        raise InputError(f"edge_index contains node {wrong}, but the graph has {nodes} nodes")


def _float_features(x: Tensor) -> Tensor:
    if x.layout not in (torch.strided, torch.sparse_csr):
        x = x.to_sparse_csr()
    x = x if x.is_floating_point() else x.float()
    values = x if x.layout == torch.strided else x.values()
    finite = torch.isfinite(values)
    if not finite.all():
        where = torch.nonzero(~finite)[0].tolist()
        place = f"row {where[0]}, column {where[1]}" if len(where) == 2 else f"stored value {where[0]}"
        raise InputError(f"x contains NaN or infinity, first at {place}: replace or drop it")
    if not values.any():
        raise InputError("all features of all nodes are zero: there is nothing to learn from")
    return x


def _labels(data: Data) -> Tensor:
    """One class per node, -1 if unknown."""
    if data.y is None:
        return torch.full((data.x.shape[0],), -1)
    if data.y.dim() == 2 and data.y.shape[1] > 1:
        raise InputError(f"y has {data.y.shape[1]} columns, but a node has one class, not several: use one column of y")
    if data.y.shape != data.x.shape[:1] or data.y.is_floating_point():
        raise InputError(f"y must contain one integer per node, not {data.y.dtype} of shape {tuple(data.y.shape)}")
    y: Tensor = data.y
    return y


def _name_parts(data: Data) -> None:
    """Check the names of the graph, its classes, features and nodes, and use numbers where there are none."""
    check_text([str(data.get("name", ""))], "name")
    nodes, features = data.x.shape
    sizes = {"class_names": num_classes(data), "feature_names": features, "node_ids": nodes, "node_titles": nodes}
    for key, size in sizes.items():
        if data.get(key) is not None:
            names = data[key].tolist() if hasattr(data[key], "tolist") else data[key]
            data[key] = ["" if name is None else str(name) for name in names]
            check_text(data[key], key)
        elif key != "node_titles":  # titles are optional
            data[key] = [str(i) for i in range(size)]
        if data.get(key) is not None and len(data[key]) != size:
            raise InputError(f"{key} has {len(data[key])} names for {size}")
    for key in ("node_ids", "class_names"):
        if len(set(data[key])) < len(data[key]):
            raise InputError(f"{key} has duplicate names")
    if int(data.y.max()) >= len(data.class_names):
        raise InputError(f"y contains class {int(data.y.max())}, but there are {len(data.class_names)} class names")
