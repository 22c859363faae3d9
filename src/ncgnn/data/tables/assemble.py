"""Assemble a graph from two tables with known column roles."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.edge_tables import EdgeTable, edge_table
from ncgnn.data.graph import both_directions, make_graph, merge_edges
from ncgnn.data.structure import structure
from ncgnn.data.tables.columns.values import as_values
from ncgnn.data.tables.edges import as_pointed, edge_weights, node_ids, node_numbers, times_counted
from ncgnn.data.tables.encoding import Encoding
from ncgnn.data.tables.features import encode
from ncgnn.data.tables.labels import encode_labels
from ncgnn.data.tables.links import ONLY, Links, stem
from ncgnn.data.tables.one_way import go_one_way
from ncgnn.data.tables.report import Role, edge_roles, node_roles
from ncgnn.errors import InputError
from ncgnn.text import several


class Frames(NamedTuple):
    """A node table with its name for messages, edge tables, and whether the file says that edges have a direction."""

    nodes: pd.DataFrame
    where: str
    links: tuple[Links, ...]
    is_directed: bool | None = None


class _Edges(NamedTuple):
    """The rows of an edge table as node numbers with weights, and the names of the columns of both ends.

    If edges have a direction, a row that holds both ways stands twice, otherwise its weight is doubled.
    """

    pairs: np.ndarray
    weight: np.ndarray | None
    ends: tuple[str, str]


def assemble(
    frames: Frames, found: Encoding, class_names: Sequence[str] | None, left_out: Mapping[str, str] | None = None
) -> tuple[Data, list[str]]:
    """The graph, and notes about values unknown to ``found``."""
    table, where, links, _ = frames
    ids = node_ids(table[found.id], where)
    y, classes = _labels(table, found, class_names, where)
    edges = [_edges(link, found, i, ids) for i, link in enumerate(links)]
    edge_index, edge_weight = _union(edges, len(ids))
    x, numbers, details, notes = encode(table, found.columns, where)
    labels = f"{several(len(classes), 'class')}, {int((y < 0).sum())} blank"
    tables = _tables(links, edges, len(ids), found) if found.edge_tables else {}
    data = make_graph(
        stem(where),
        x,
        edge_index,
        y,
        edge_weight=edge_weight,
        class_names=classes,
        feature_names=found.feature_names,
        node_ids=ids.tolist(),
        numbers=numbers,
        node_titles=None if found.title is None else _titles(table[found.title]),
        encoding=found,
        roles=node_roles(where, found, labels, details, left_out or {})
        + _edge_roles(frames, found, edges, tables or {ONLY: EdgeTable(edge_index, edge_weight, is_directed=False)}),
        **({"edge_tables": tables} if tables else {}),
    )
    return data, notes


def with_structure(frames: Frames, found: Encoding) -> tuple[Frames, dict[str, np.ndarray]]:
    """The tables with columns made from the edges, and these columns."""
    table, where, links, _ = frames
    ids = node_ids(table[found.id], where)
    edge_index, _ = _union([_edges(link, found, i, ids) for i, link in enumerate(links)], len(ids))
    columns = structure(edge_index, len(ids))
    others = table.drop(columns=[name for name in columns if name in table])
    return frames._replace(nodes=others.assign(**columns)), columns


def _edges(link: Links, found: Encoding, position: int, ids: pd.Series) -> _Edges:
    own = found.edge_tables[position] if found.edge_tables else found
    ends = own.source, own.target
    pairs = node_numbers(link.table, ends, ids, link.where)
    weight = None if found.weight is None else edge_weights(link.table[found.weight], link.where)
    if found.direction is None:
        return _Edges(pairs, weight, ends)
    times = times_counted(link.table[found.direction], link.where)
    if not found.directed:
        if weight is None:
            raise InputError(
                f"{link.where}: edge directions only affect weights: set a weight column too,"
                f" leave {found.direction!r} out, or keep directions",
                "directed",
            )
        return _Edges(pairs, weight * times, ends)
    pairs = as_pointed(pairs, link.table[found.direction])
    both = times == 2
    pairs = np.concatenate([pairs, pairs[both][:, ::-1]])
    return _Edges(pairs, None if weight is None else np.concatenate([weight, weight[both]]), ends)


def _union(edges: Sequence[_Edges], nodes: int) -> tuple[Tensor, Tensor | None]:
    """The edges of all tables in both directions."""
    weights = [part.weight for part in edges if part.weight is not None]
    pairs = np.concatenate([part.pairs for part in edges])
    return both_directions(*merge_edges(pairs, nodes, np.concatenate(weights) if weights else None))


def _tables(links: Sequence[Links], edges: Sequence[_Edges], nodes: int, found: Encoding) -> dict[str, EdgeTable]:
    return {
        link.name: edge_table(part.pairs, nodes, part.weight, is_directed=found.directed)
        for link, part in zip(links, edges, strict=True)
    }


_UNPRINTED = r"[\s\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+"  # blanks, control and bidi characters


def _titles(column: pd.Series) -> list[str]:
    """The name on one line, without control characters."""
    titles: list[str] = as_values(column).str.replace(_UNPRINTED, " ", regex=True).str.strip().tolist()
    return titles


def _labels(
    table: pd.DataFrame, found: Encoding, class_names: Sequence[str] | None, where: str
) -> tuple[Tensor, list[str]]:
    if found.label is None:
        return torch.full((len(table),), -1), list(class_names or ())
    return encode_labels(table[found.label], class_names, where)


def _edge_roles(
    frames: Frames, found: Encoding, edges: Sequence[_Edges], tables: Mapping[str, EdgeTable]
) -> list[Role]:
    roles = []
    may_point = frames.is_directed is not False and found.direction is None and not found.directed
    for link, (pairs, _, ends), table in zip(frames.links, edges, tables.values(), strict=True):
        is_one_way = may_point and go_one_way(pairs, len(frames.nodes), table.edge_index.shape[1] // 2, ends)
        roles += edge_roles(link, found, ends, _counts(link, pairs, table), is_one_way=is_one_way)
    return roles


def _counts(link: Links, pairs: np.ndarray, table: EdgeTable) -> str:
    edges = table.edge_index.shape[1] // (1 if table.is_directed else 2)
    loops = int((pairs[:, 0] == pairs[:, 1]).sum())
    kind = "directed edges" if table.is_directed else "edges"
    return f"{len(link.table)} rows, {edges} {kind}: {len(pairs) - loops - edges} repeated, {loops} self-loops"
