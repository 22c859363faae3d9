"""Assemble a graph from two tables with known column roles."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, make_graph, merge_edges
from ncgnn.data.tables.columns.values import as_values
from ncgnn.data.tables.edges import edge_weights, node_ids, node_numbers, times_counted
from ncgnn.data.tables.encoding import Encoding
from ncgnn.data.tables.features import encode
from ncgnn.data.tables.labels import encode_labels
from ncgnn.data.tables.report import edge_roles, node_roles
from ncgnn.errors import InputError
from ncgnn.text import several


class Frames(NamedTuple):
    """A node table, an edge table, and their names for messages."""

    nodes: pd.DataFrame
    edges: pd.DataFrame
    where: tuple[str, str]


def assemble(
    frames: Frames, found: Encoding, class_names: Sequence[str] | None, left_out: Mapping[str, str] | None = None
) -> tuple[Data, list[str]]:
    """The graph, and notes about values unknown to ``found``."""
    table, links, where = frames
    ids = node_ids(table[found.id], where[0])
    y, classes = _labels(table, found, class_names, where[0])
    pairs = node_numbers(links, (found.source, found.target), ids, where[1])
    edges, weight = merge_edges(pairs, len(ids), _weights(links, found, where[1]))
    edge_index, edge_weight = both_directions(edges, weight)
    x, numbers, details, notes = encode(table, found.columns, where[0])
    labels = f"{several(len(classes), 'class')}, {int((y < 0).sum())} blank"
    data = make_graph(
        _graph_name(where[0]),
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
        roles=node_roles(where[0], found, labels, details, left_out or {})
        + edge_roles(where[1], found, pairs, len(edges)),
    )
    return data, notes


def _graph_name(place: str) -> str:
    """The name of the file, without its suffix."""
    name = Path(place).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


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


def _weights(links: pd.DataFrame, found: Encoding, where: str) -> np.ndarray | None:
    if found.weight is None:
        if found.direction is not None:
            raise InputError(
                f"{where}: edge directions only affect weights: set a weight column too,"
                f" or leave {found.direction!r} out"
            )
        return None
    weights = edge_weights(links[found.weight], where)
    return weights if found.direction is None else weights * times_counted(links[found.direction], where)
