"""Read your own graph: two tables, one file, or an object of another library."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from torch_geometric.data import Data

from ncgnn.data.completion import undirected
from ncgnn.data.npz import read_npz
from ncgnn.data.tables.assemble import Frames, assemble
from ncgnn.data.tables.encoding import Encoding
from ncgnn.data.tables.features import choose_columns
from ncgnn.data.tables.files import Table, read_table
from ncgnn.data.tables.labels import encode_labels
from ncgnn.data.tables.objects import is_graph_object, is_graphml, object_tables, read_graphml
from ncgnn.data.tables.options import check_replay, feature_columns, kinds_of
from ncgnn.data.tables.roles import choose_roles
from ncgnn.errors import InputError


def read_graph(
    nodes: Any,
    edges: Table | None = None,
    *,
    id: str | None = None,
    label: str | None = None,
    title: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    direction: str | None = None,
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    date: Collection[str] = (),
    text: Collection[str] = (),
    ignore: Collection[str] = (),
    encoding: Encoding | None = None,
    class_names: Sequence[str] | None = None,
) -> Data:
    """Read a graph from a node table and an edge table, from one file, or from a graph of another library.

    A table is a path to a CSV, TSV (both also ``.gz``) or Parquet file, or a pandas data frame. Ids are compared as
    text. All columns of the node table except ``id``, ``label`` and those in ``ignore`` are features. Their kind is
    inferred and reported in ``data.roles``: numbers and dates are standardised (columns of zeros and ones are kept),
    each category becomes one feature, and so does each word of free text (TF-IDF).

    Args:
        nodes: table with one row per node; or, without ``edges``, an ``.npz`` or GraphML file, a NetworkX or igraph
            graph, whose attributes are the columns, or a PyG ``Data``.
        edges: table with one row per edge; self-loops are dropped, weights of repeated edges are summed.
        id: id column of the node table; default: "id", otherwise the first column.
        label: column with the class, blank if unknown; without it, no node is labelled.
        title: column with a display name for each node; it is still used as a feature.
        source, target: columns of the edge table; default: "source" and "target", otherwise the first free column.
        weight: column of the edge table with positive weights.
        direction: column of the edge table that marks edges in both directions, whose weights count twice.
        numeric, categorical, date, text: columns whose kind is set instead of inferred.
        ignore: columns to ignore.
        encoding: ``data.encoding`` of an earlier graph, to encode these tables the same way.
        class_names: ``data.class_names`` of an earlier graph, to number the classes the same way.
    """
    wanted: dict[str, str | None] = {"id": id, "label": label, "title": title}
    wanted |= {"source": source, "target": target, "weight": weight, "direction": direction}
    named = {"numeric": numeric, "categorical": categorical, "date": date, "text": text, "ignore": ignore}
    kinds = kinds_of(**named)
    if isinstance(nodes, Data) or is_npz(nodes):
        _check_unused({**wanted, **named})
        return undirected(nodes) if isinstance(nodes, Data) else _read_npz(nodes, edges, encoding, class_names)
    frames = _frames(nodes, edges)
    roles = choose_roles(frames.nodes, frames.edges, wanted, encoding, frames.where)
    if encoding is not None:
        check_replay(encoding, named)
        data, notes = assemble(frames, roles, class_names)
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        return data
    features = feature_columns(frames.nodes, roles, kinds, frames.where[0])
    columns, left_out = choose_columns(features, kinds, frames.where[0])
    return assemble(frames, roles.model_copy(update={"columns": columns}), class_names, left_out)[0]


def is_npz(graph: Any) -> bool:
    """Whether it is the path of an ``.npz`` file."""
    return isinstance(graph, str | Path) and str(graph).lower().endswith(".npz")


def _check_unused(said: Mapping[str, Collection[str] | None]) -> None:
    given = next((name for name, value in said.items() if value is not None and len(value)), None)
    if given is not None:
        raise InputError(f"{given} only applies to tables: remove it")


def _frames(nodes: Any, edges: Table | None) -> Frames:
    if is_graphml(nodes) or is_graph_object(nodes):
        if edges is not None:
            raise InputError(f"{_place(nodes)}: includes the edges: do not pass an edge table")
        table, links = read_graphml(nodes) if is_graphml(nodes) else object_tables(nodes)
        (table, first), (links, second) = (
            read_table(table, _place(nodes)),
            read_table(links, f"edges of {_place(nodes)}"),
        )
    elif edges is None:
        raise InputError("an edge table is required (it may be empty)")
    else:
        (table, first), (links, second) = read_table(nodes, "node table"), read_table(edges, "edge table")
    if table.empty:
        raise InputError(f"{first}: the table has no rows")
    return Frames(table, links, (first, second))


def _place(graph: Any) -> str:
    return str(graph) if is_graphml(graph) else "graph"


def _read_npz(
    path: str | Path, edges: Table | None, encoding: Encoding | None, class_names: Sequence[str] | None
) -> Data:
    if edges is not None:
        raise InputError(f"{path}: an .npz file includes the edges: do not pass an edge table")
    data = read_npz(path)
    if encoding is not None and data.feature_names != encoding.feature_names:
        raise InputError(f"{path}: its features differ from those of the earlier graph: read the tables instead")
    if class_names is not None:
        labels = pd.Series(["", *data.class_names], name="labels").iloc[data.y.numpy() + 1]
        data.y, data.class_names = encode_labels(labels, class_names, str(path))
    return data
