"""Vectors, such as embeddings, as columns of numbers: ``emb`` becomes ``emb_0``, ``emb_1``, ...

They are lists in a column of a Parquet file or data frame, lists written as text in a CSV file, or the rows of a
``.npy`` file beside the table.
"""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ncgnn.data.archive import read_array
from ncgnn.data.tables.links import stem
from ncgnn.errors import InputError

BESIDE = "vector"
"""Name of the vectors in a file beside the table."""


def with_vectors(table: pd.DataFrame, where: str, source: Any, kept: Collection[str]) -> pd.DataFrame:
    """The table with a column for each number of its vectors, except those in the columns ``kept``."""
    columns = ((name, _vectors(column, where)) for name, column in table.items() if name not in kept)
    found = {name: vectors for name, vectors in columns if vectors is not None}
    beside = vectors_beside(source)
    if not found and beside is None:
        return table
    parts = [_named(found[name], name) if name in found else table[[name]] for name in table.columns]
    if beside is not None:
        parts.append(_named(_read(beside, len(table)), BESIDE))
    names = [name for part in parts for name in part.columns]
    twice = pd.Index(names).duplicated()
    if twice.any():
        name = names[int(twice.argmax())]
        raise InputError(f"{where}: a vector needs the column {name!r}, which there is already: rename one")
    return pd.concat(parts, axis=1)


def vectors_beside(table: Any) -> Path | None:
    """The file with vectors that belongs to a table: ``nodes.npy`` beside ``nodes.csv``; None if there is none."""
    if not isinstance(table, str | Path):
        return None
    path = Path(table).parent / f"{stem(table)}.npy"
    return path if path.is_file() else None


def _named(vectors: np.ndarray, name: str) -> pd.DataFrame:
    return pd.DataFrame(vectors, columns=[f"{name}_{i}" for i in range(vectors.shape[1])])


def _vectors(column: pd.Series, where: str) -> np.ndarray | None:
    """The vectors of a column [N, numbers], nan where there is none; None if the column has none."""
    if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
        return None
    first = _list(next((value for value in column if not _is_blank(value)), None))
    if first is None:
        return None
    out = np.full((len(column), len(first)), np.nan)
    for row, value in enumerate(column):
        found = None if _is_blank(value) else _list(value)
        if found is not None and len(found) == len(first):
            out[row] = found
        elif not _is_blank(value):
            told = "is not a list of numbers" if found is None else f"has {len(found)} numbers"
            raise InputError(
                f"{where}, column {str(column.name)!r}, row {row + 1}: {told}, but the first vector has {len(first)}"
            )
    return out


def _is_blank(value: Any) -> bool:
    return not isinstance(value, list | tuple | np.ndarray) and (value == "" or bool(pd.isna(value)))


def _list(value: Any) -> np.ndarray | None:
    """The numbers of a list, or of its text; None if it is none."""
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list | tuple | np.ndarray) or not len(value):
        return None
    try:
        found = np.asarray(value)
    except ValueError:  # lists of different lengths
        return None
    return found.astype(np.float64) if found.ndim == 1 and found.dtype.kind in "iuf" else None


def _read(path: Path, rows: int) -> np.ndarray:
    found = read_array(path)
    if found.ndim != 2 or found.dtype.kind not in "iuf" or not found.shape[1]:
        raise InputError(f"{path}: must hold numbers of shape [nodes, numbers per node]")
    if len(found) != rows:
        raise InputError(f"{path}: has {len(found)} rows, but the table beside it has {rows}: rename it, or correct it")
    return found.astype(np.float64)
