"""Edge tables of a graph: one or several kinds of links, which may have a direction.

``data.edge_index`` is the symmetric union of all of them. ``data.edge_tables`` keeps them apart, and keeps directions;
a graph has it only if it was read as directed or from several edge tables.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ncgnn.data.graph import both_directions, merge_edges
from ncgnn.errors import InputError


class EdgeTable(NamedTuple):
    """The edges of one table, sorted, without self-loops and repeated edges.

    Attributes:
        edge_index: source and target of each edge, ``[2, edges]``; an undirected edge is listed in both directions.
        edge_weight: positive weights ``[edges]``, or None.
        is_directed: whether edges have a direction.
    """

    edge_index: Tensor
    edge_weight: Tensor | None
    is_directed: bool


def edge_table(
    pairs: np.ndarray, num_nodes: int, weight: np.ndarray | None = None, *, is_directed: bool = True
) -> EdgeTable:
    """The table of the rows ``pairs`` (E, 2); self-loops are dropped, weights of repeated edges are summed."""
    edges, merged = merge_edges(pairs, num_nodes, weight, is_directed=is_directed)
    if not is_directed:
        return EdgeTable(*both_directions(edges, merged), is_directed=False)
    edge_index = torch.from_numpy(np.ascontiguousarray(edges.T))
    return EdgeTable(edge_index, None if merged is None else torch.from_numpy(merged), is_directed=True)


def check_edge_tables(tables: Any, num_nodes: int) -> None:
    """Check names, node numbers and weights of ``data.edge_tables``."""
    if not isinstance(tables, Mapping) or not tables:
        raise InputError("edge_tables must be a dict of at least one name and its EdgeTable")
    for name, table in tables.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"edge_tables has the name {name!r}: every table needs a name")
        if name in ("all", "in", "out") or name.endswith((" in", " out")):
            raise InputError(f"edge_tables has the name {name!r}, which stands for a direction: rename the table")
        if not isinstance(table, EdgeTable):
            raise InputError(f"edge_tables[{name!r}] must be an EdgeTable, not {type(table).__name__}")
        _check_table(f"edge_tables[{name!r}]", table, num_nodes)
    if len({name.strip() for name in tables}) < len(tables):
        raise InputError("edge_tables has duplicate names")


def check_union(tables: Mapping[str, EdgeTable], edge_index: Tensor, num_nodes: int, where: str) -> None:
    """Check that the tables together, in both directions, are the edges of the graph."""
    pairs = np.concatenate([table.edge_index.numpy() for table in tables.values()], axis=1).T
    together, edges = merge_edges(pairs, num_nodes)[0], merge_edges(edge_index.numpy().T, num_nodes)[0]
    if not np.array_equal(together, edges):
        raise InputError(
            f"{where}: the edge tables have {len(together)} edges, which are not the {len(edges)} edges of the graph"
        )


def _check_table(what: str, table: EdgeTable, num_nodes: int) -> None:
    ends, weight = table.edge_index, table.edge_weight
    if ends.dim() != 2 or ends.shape[0] != 2 or ends.dtype != torch.int64:
        raise InputError(f"{what} needs an int64 edge_index [2, edges], not {ends.dtype} {tuple(ends.shape)}")
    if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < num_nodes:
        wrong = int(ends.max()) if int(ends.min()) >= 0 else int(ends.min())
        raise InputError(f"{what} contains node {wrong}, but the graph has {num_nodes} nodes")
    if weight is None:
        return
    if weight.shape != ends.shape[1:]:
        raise InputError(f"{what} has weights of shape {tuple(weight.shape)} for {ends.shape[1]} edges")
    if not (torch.isfinite(weight) & (weight > 0)).all():
        raise InputError(f"{what}: weights must be finite and positive")
