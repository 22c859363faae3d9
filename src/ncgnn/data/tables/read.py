"""Read your own graph: a node table and edge tables, one file, or an object of another library."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from torch_geometric.data import Data
from torch_geometric.utils import is_undirected

from ncgnn.data.completion import check_kind, undirected
from ncgnn.data.edge_tables import edge_table
from ncgnn.data.npz import read_npz
from ncgnn.data.ogb import is_ogb, ogb_files, read_ogb
from ncgnn.data.structure import is_structure, told
from ncgnn.data.tables.assemble import Frames, assemble, with_structure
from ncgnn.data.tables.encoding import Encoding
from ncgnn.data.tables.features import choose_columns
from ncgnn.data.tables.files import read_table
from ncgnn.data.tables.labels import encode_labels
from ncgnn.data.tables.links import ONLY, EdgeTables, Links, in_trained_order, read_links
from ncgnn.data.tables.objects import is_graph_object, is_graphml, object_tables, read_graphml
from ncgnn.data.tables.options import check_direction, check_replay, feature_columns, kinds_of
from ncgnn.data.tables.parquet import parts
from ncgnn.data.tables.roles import choose_roles
from ncgnn.data.tables.vectors import with_vectors
from ncgnn.errors import InputError


def read_graph(
    nodes: Any,
    edges: EdgeTables | None = None,
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
    directed: bool = False,
    encoding: Encoding | None = None,
    class_names: Sequence[str] | None = None,
) -> Data:
    """Read a graph from a node table and an edge table, from one file, or from a graph of another library.

    A table is a path to a CSV, TSV (both also ``.gz``) or Parquet file, or a pandas data frame. Ids are compared as
    text. All columns of the node table except ``id``, ``label`` and those in ``ignore`` are features. Their kind is
    inferred and reported in ``data.roles``: numbers and dates are standardised (columns of zeros and ones are kept),
    each category becomes one feature, and so does each word of free text (TF-IDF). A column of lists is a vector, and
    so are the rows of a ``.npy`` file called like the node table; each of its numbers is a column.

    Args:
        nodes: table with one row per node; or, without ``edges``, an ``.npz`` or GraphML file, a folder of the Open
            Graph Benchmark, a NetworkX or igraph graph, whose attributes are the columns, or a PyG ``Data``.
        edges: table with one row per edge; self-loops are dropped, weights of repeated edges are summed. Or several
            tables, one for each kind of edge, as a dict of names and tables or a list of paths, named by their stems;
            ``data.edge_index`` has the edges of all, ``data.edge_tables`` keeps them apart, see
            :class:`ncgnn.data.EdgeTable`.
        id: id column of the node table; default: "id", otherwise the first column.
        label: column with the class, blank if unknown; without it, no node is labelled.
        title: column with a display name for each node; it is still used as a feature.
        source, target: columns of every edge table; default: "source" and "target", otherwise the first free column.
        weight: column of the edge table with positive weights.
        direction: column of the edge table that marks edges in both directions, whose weights count twice; if
            ``directed``, it also marks edges from target to source.
        numeric, categorical, date, text: columns whose kind is set instead of inferred.
        ignore: columns to ignore.
        directed: keep the direction of every edge, from source to target, in ``data.edge_tables``.
        encoding: ``data.encoding`` of an earlier graph, to encode these tables the same way.
        class_names: ``data.class_names`` of an earlier graph, to number the classes the same way.
    """
    wanted: dict[str, str | None] = {"id": id, "label": label, "title": title}
    wanted |= {"source": source, "target": target, "weight": weight, "direction": direction}
    named = {"numeric": numeric, "categorical": categorical, "date": date, "text": text, "ignore": ignore}
    kinds = kinds_of(**named)
    check_kind(nodes)
    if isinstance(nodes, Data) or is_finished(nodes):
        _check_unused({**wanted, **named})
        if isinstance(nodes, Data):
            return _from_data(nodes, directed)
        data = _read_finished(nodes, edges, encoding, class_names)
        return check_directed(data, str(nodes)) if directed else data
    if encoding is not None:
        directed = check_direction(encoding, directed)
    frames = _frames(nodes, edges)
    kept = {*ignore, *(name for name in (id, label, title) if name is not None)}
    frames = frames._replace(nodes=with_vectors(frames.nodes, frames.where, nodes, kept))
    if directed and frames.is_directed is False:
        raise no_direction(frames.where)
    if encoding is not None:
        frames = frames._replace(links=in_trained_order(frames.links, encoding))
    roles = choose_roles(frames.nodes, frames.where, frames.links, wanted, encoding, directed=directed)
    if encoding is not None:
        check_replay(encoding, named)
        if any(is_structure(column.name) and column.name not in frames.nodes for column in encoding.columns):
            frames, _ = with_structure(frames, roles)
        data, notes = assemble(frames, roles, class_names)
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        return data
    features = feature_columns(frames.nodes, roles, kinds, frames.where)
    if features.empty:
        frames, made = with_structure(frames, roles)
        features = frames.nodes[list(made)]
        warnings.warn(f"{frames.where}: no feature columns; {told(made)}", UserWarning, stacklevel=2)
    columns, left_out = choose_columns(features, kinds, frames.where)
    return assemble(frames, roles.model_copy(update={"columns": columns}), class_names, left_out)[0]


def is_npz(graph: Any) -> bool:
    """Whether it is the path of an ``.npz`` file."""
    return isinstance(graph, str | Path) and str(graph).lower().endswith(".npz")


def is_finished(graph: Any) -> bool:
    """Whether it is the path of a graph that holds features, edges and labels: an ``.npz`` file or an OGB folder."""
    return is_npz(graph) or is_ogb(graph)


def files_of(path: Path) -> list[Path]:
    """The file itself, or the files of a folder that is a table or a graph."""
    if is_ogb(path):
        return ogb_files(path)
    return [*parts(path), *sorted(path.glob("*.npy"))] if path.is_dir() else [path]


def _check_unused(said: Mapping[str, Collection[str] | None]) -> None:
    given = next((name for name, value in said.items() if value is not None and len(value)), None)
    if given is not None:
        raise InputError(f"{given} only applies to tables: remove it")


def check_directed(data: Data, where: str) -> Data:
    """The graph, if it has directed edges."""
    if not any(table.is_directed for table in (data.get("edge_tables") or {}).values()):
        raise no_direction(where)
    return data


def no_direction(where: str) -> InputError:
    return InputError(f"{where}: this graph has no directed edges: remove the option", "directed")


def _from_data(data: Data, directed: bool) -> Data:
    """A PyG graph made undirected; if ``directed``, its edges are also kept in their direction."""
    out = undirected(data)
    if not directed or data.get("edge_tables") is not None:
        return check_directed(out, "graph") if directed else out
    nodes, weight = int(out.num_nodes or 0), data.get("edge_weight")
    if is_undirected(data.edge_index, weight, nodes):
        raise no_direction("graph")
    pairs = data.edge_index.numpy().T
    out.edge_tables = {ONLY: edge_table(pairs, nodes, None if weight is None else weight.numpy())}
    return out


def _frames(nodes: Any, edges: EdgeTables | None) -> Frames:
    if is_graphml(nodes) or is_graph_object(nodes):
        if edges is not None:
            raise InputError(f"{_place(nodes)}: includes the edges: do not pass an edge table")
        found = read_graphml(nodes) if is_graphml(nodes) else object_tables(nodes)
        table, where = read_table(found.nodes, _place(nodes))
        links = (Links(ONLY, *read_table(found.edges, f"edges of {_place(nodes)}")),)
        frames = Frames(table, where, links, found.is_directed)
    elif edges is None:
        raise InputError("an edge table is required (it may be empty)")
    else:
        frames = Frames(*read_table(nodes, "node table"), read_links(edges))
    if frames.nodes.empty:
        raise InputError(f"{frames.where}: the table has no rows")
    return frames


def _place(graph: Any) -> str:
    return str(graph) if is_graphml(graph) else "graph"


def _read_finished(
    path: str | Path, edges: EdgeTables | None, encoding: Encoding | None, class_names: Sequence[str] | None
) -> Data:
    if edges is not None:
        raise InputError(f"{path}: includes the edges: do not pass an edge table")
    data = read_npz(path) if is_npz(path) else read_ogb(path)
    if encoding is not None and data.feature_names != encoding.feature_names:
        raise InputError(f"{path}: its features differ from those of the earlier graph: read the tables instead")
    if class_names is not None:
        labels = pd.Series(["", *data.class_names], name="labels").iloc[data.y.numpy() + 1]
        data.y, data.class_names = encode_labels(labels, class_names, str(path))
    return data
