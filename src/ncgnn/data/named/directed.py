"""Directed edges of named graphs, as published before they were made undirected."""

from collections.abc import Iterable
from copy import copy
from pathlib import Path

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.archive import FAULTS
from ncgnn.data.edge_tables import check_union, edge_table
from ncgnn.errors import InputError

LINKS = "links"
"""Name of the edge table of a named graph."""


def with_links(data: Data, folders: Iterable[Path]) -> Data:
    """The graph with the directed edges of ``directed/<name>.npz`` in one of the folders, if there is such a file."""
    if data.get("edge_tables") is not None:
        return data
    path = next(
        (path for path in (folder / "directed" / f"{data.name}.npz" for folder in folders) if path.is_file()), None
    )
    if path is None:
        return data
    nodes = int(data.num_nodes or 0)
    tables = {LINKS: edge_table(_pairs(path, nodes), nodes)}
    check_union(tables, data.edge_index, nodes, str(path))
    out = copy(data)
    out.edge_tables = tables
    return out


def _pairs(path: Path, num_nodes: int) -> np.ndarray:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            pairs: np.ndarray = arrays["edges"]
    except FAULTS as error:
        raise InputError(f"{path}: cannot be read ({' '.join(str(error).split())})") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(f"{path}: array 'edges' must be integers of shape (edges, 2), not {pairs.dtype} {pairs.shape}")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < num_nodes:
        raise InputError(f"{path}: array 'edges' contains nodes outside 0 to {num_nodes - 1}")
    return pairs
