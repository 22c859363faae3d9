"""Geom-GCN's published neighbourhoods of named graphs."""

from collections.abc import Iterable
from copy import copy
from pathlib import Path

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.archive import FAULTS
from ncgnn.errors import InputError


def with_neighbourhoods(data: Data, folders: Iterable[Path]) -> Data:
    """The graph with the tables of ``geom-gcn/<name>.npz`` in one of the folders, if there is such a file.

    ``data.neighbourhoods`` has a table for each embedding (``isomap``, ``poincare``, ``struc2vec``), rows ``node,
    neighbour, space, relation``: space 0 is the graph, 1 the plane; the relation is one of four directions there.
    """
    paths = (folder / f"geom-gcn/{data.name}.npz" for folder in folders)
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return data
    out = copy(data)
    out.neighbourhoods = _tables(path, int(data.num_nodes or 0))
    return out


def _tables(path: Path, num_nodes: int) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            tables = {name: arrays[name] for name in arrays.files}
    except FAULTS as error:
        raise InputError(f"{path}: cannot be read ({' '.join(str(error).split())})") from error
    for name, rows in tables.items():
        if rows.ndim != 2 or rows.shape[1] != 4 or rows.dtype.kind not in "iu":
            raise InputError(f"{path}: array {name!r} must be integers of shape (rows, 4)")
        if rows.size and (rows.min() < 0 or (rows.max(axis=0) >= (num_nodes, num_nodes, 2, 4)).any()):
            raise InputError(f"{path}: array {name!r} contains nodes, spaces or relations that do not exist")
    return tables
