"""The edges that a group of capsules uses: all, one direction, or one edge table."""

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.edge_tables import EdgeTable
from ncgnn.errors import InputError

ALL, IN, OUT = "all", "in", "out"


def chosen_edges(data: Data, edges: str) -> Data:
    """The graph with some of its edges, in the direction in which messages flow.

    ``in`` are messages from the nodes that link to a node, ``out`` from those it links to. The name of an edge table
    restricts them to it, alone or with a direction, as in ``pays out``.
    """
    if edges == ALL:
        return data
    table, direction = parsed_edges(edges)
    tables: dict[str, EdgeTable] = data.get("edge_tables") or {}
    if table and table not in tables:
        raise InputError(f"the graph has no edge table {table!r}: give all tables that the model reads", "edges")
    used = [tables[table]] if table else list(tables.values())
    if direction and not any(one.is_directed for one in used):
        raise InputError("the model reads the direction of links, which this graph does not have", "directed")
    turned = [_turned(one, direction) for one in used]
    ends, weights = (torch.cat([part[i] for part in turned], dim=-1) for i in (0, 1))
    return Data(edge_index=ends, edge_weight=weights, num_nodes=data.num_nodes)


def parsed_edges(edges: str) -> tuple[str, str]:
    """Name of the table and direction, either of which may be empty."""
    if edges in (IN, OUT):
        return "", edges
    table, _, direction = edges.rpartition(" ")
    return (table, direction) if direction in (IN, OUT) else (edges, "")


def _turned(table: EdgeTable, direction: str) -> tuple[Tensor, Tensor]:
    """Edges and weights of a table as messages flow; without a direction both ways."""
    ends = table.edge_index
    weight = torch.ones(ends.shape[1]) if table.edge_weight is None else table.edge_weight
    if not table.is_directed or direction == IN:
        return ends, weight
    return (ends.flip(0), weight) if direction else (torch.cat([ends, ends.flip(0)], dim=1), weight.repeat(2))
