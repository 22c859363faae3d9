"""A person's own tables as a graph."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd
import torch
from torch_geometric.data import Data

from ncgnn.data.encoding import Encoding
from ncgnn.data.endpoints import edge_weights, node_ids, node_numbers
from ncgnn.data.features import choose_columns, encode
from ncgnn.data.files import Table, read_table
from ncgnn.data.graph import both_directions, make_graph, merge_edges
from ncgnn.data.labels import encode_labels
from ncgnn.data.npz import read_npz
from ncgnn.data.roles import check_column, choose_roles
from ncgnn.errors import InputError


def read_graph(
    nodes: Table,
    edges: Table | None = None,
    *,
    id: str | None = None,
    label: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    categorical: Collection[str] = (),
    ignore: Collection[str] = (),
    encoding: Encoding | None = None,
    class_names: Sequence[str] | None = None,
) -> Data:
    """Read a graph from a node table and an edge table, or from one ``.npz`` file.

    A table is a path to a CSV, TSV (both also ``.gz``) or Parquet file, or a pandas data frame. Ids are compared as
    text. All columns of the node table but ``id``, ``label`` and those to ``ignore`` are features: numbers are
    standardised (columns of zeros and ones stay), other values become one feature for each category.

    Args:
        nodes: one row a node.
        edges: one row an edge; direction, repetition and self-loops do not matter, weights of repetitions are summed.
        id: column of the node table, by default "id" or else the first.
        label: column with the class, blank where it is unknown; without one no node is labelled.
        source, target: columns of the edge table, by default "source" and "target" or else the first two.
        weight: column of the edge table with positive weights.
        categorical: columns whose values are categories although they look like numbers.
        ignore: columns that are no features.
        encoding: ``data.encoding`` of an earlier graph: make the same features of these tables.
        class_names: ``data.class_names`` of an earlier graph: number the classes as there.
    """
    if isinstance(nodes, str | Path) and str(nodes).lower().endswith(".npz"):
        return _read_npz(nodes, edges, encoding, class_names)
    if edges is None:
        raise InputError("an edge table is needed beside the node table (it may have no rows)")
    table, where = read_table(nodes, "node table")
    links, links_where = read_table(edges, "edge table")
    if table.empty:
        raise InputError(f"{where}: the table has no rows")
    wanted = {"id": id, "label": label, "source": source, "target": target, "weight": weight}
    roles = choose_roles(table, links, wanted, encoding, (where, links_where))
    if encoding is None:
        features = _features(table, roles, categorical, ignore, where)
        roles = roles.model_copy(update={"columns": choose_columns(features, categorical, where)})
    return _assemble(table, links, roles, class_names, (where, links_where))


def _features(
    table: pd.DataFrame, roles: Encoding, categorical: Collection[str], ignore: Collection[str], where: str
) -> pd.DataFrame:
    for name in (*categorical, *ignore):
        check_column(table, name, where)
    return table[[name for name in table.columns if name not in {roles.id, roles.label, *ignore}]]


def _assemble(
    table: pd.DataFrame, links: pd.DataFrame, roles: Encoding, class_names: Sequence[str] | None, where: tuple[str, str]
) -> Data:
    ids = node_ids(table[roles.id], where[0])
    y, names = torch.full((len(table),), -1), list(class_names or ())
    if roles.label is not None:
        y, names = encode_labels(table[roles.label], class_names, where[0])
    pairs = node_numbers(links, (roles.source, roles.target), ids, where[1])
    weight = None if roles.weight is None else edge_weights(links[roles.weight], where[1])
    edge_index, edge_weight = both_directions(*merge_edges(pairs, len(ids), weight))
    return make_graph(
        Path(where[0]).name.split(".")[0],
        encode(table, roles.columns, where[0]),
        edge_index,
        y,
        edge_weight=edge_weight,
        class_names=names,
        feature_names=roles.feature_names,
        node_ids=ids.tolist(),
        encoding=roles,
    )


def _read_npz(
    path: str | Path, edges: Table | None, encoding: Encoding | None, class_names: Sequence[str] | None
) -> Data:
    if edges is not None:
        raise InputError(f"{path}: an .npz file holds the edges too: give no edge table")
    data = read_npz(path)
    if encoding is not None and data.feature_names != encoding.feature_names:
        raise InputError(f"{path}: its features are not those of the earlier graph: read the tables instead")
    if class_names is not None:
        labels = pd.Series(["", *data.class_names], name="labels").iloc[data.y.numpy() + 1]
        data.y, data.class_names = encode_labels(labels, class_names, str(path))
    return data
