"""Ids of the node table, and rows of the edge table as pairs of node numbers with weights and directions."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ncgnn.data.graph import LEAST_WEIGHT, MOST_WEIGHT
from ncgnn.data.tables.columns.text import one_array
from ncgnn.data.tables.columns.values import as_numbers, as_text, as_values, fault, no_number
from ncgnn.errors import InputError

_ONE = ("", "directed", "->", "<-", "out", "in")
_BACK = ("<-", "in")
_BOTH = ("undirected", "both", "<->", "--", "mutual")
_BATCH = 1 << 22  # rows of an edge table whose ids are compared at once, at least
_PER_NODE = 8  # and so many for each node, because each time the ids of all nodes are hashed
_DROP = "correct it, or drop the edge"
_NO_WEIGHTS = "no value in this column is: use another weight column"


def node_ids(column: pd.Series, where: str) -> pd.Series:
    """The ids as text; :class:`InputError` for blank or repeated ids."""
    ids = as_text(column)
    whole = _without_point_zero(ids)
    if (whole != ids).all():  # an integer column that was saved as floats
        ids = whole
    blank = (ids == "").to_numpy()
    if blank.any():
        raise InputError(f"{where}, column {str(column.name)!r}, row {int(blank.argmax()) + 1}: the id is blank")
    twice = ids.duplicated().to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise InputError(
            f"{where}, column {str(column.name)!r}, row {row + 1}: id {ids.iloc[row]!r} is a duplicate;"
            f" rows with a repeated id: {int(twice.sum())}; if this is not the id column, choose another",
            "id",
        )
    return ids


def node_numbers(edges: pd.DataFrame, ends: tuple[str, str], ids: pd.Series, where: str) -> np.ndarray:
    """Node table rows of both ends of each edge, shape (edges, 2)."""
    known, pairs = one_array(ids), np.empty((len(edges), 2), np.int64)
    size = max(_BATCH, _PER_NODE * len(ids))
    for end, column in enumerate(ends):
        for start in range(0, len(edges), size):
            batch = edges[column].iloc[start : start + size]
            pairs[start : start + size, end] = _look_up(as_text(batch), known)
    unknown = (pairs < 0).any(axis=1)
    if unknown.any():
        row = int(unknown.argmax())
        end = int(pairs[row].argmin())
        name = as_text(edges[ends[end]]).iloc[row]
        raise InputError(
            f"{where}, column {ends[end]!r}, row {row + 1}: node {name!r} is not in the"
            f" node table; edges with an unknown node: {int(unknown.sum())}"
        )
    return pairs


def edge_weights(column: pd.Series, where: str) -> np.ndarray:
    """The weights; each must be a positive number within the range of float32."""
    weights = as_numbers(column)
    finite = np.isfinite(weights)
    if not finite.all():
        raise no_number(column, int(finite.argmin()), where, _DROP if finite.any() else _NO_WEIGHTS)
    if (weights <= 0).any():
        row = int((weights <= 0).argmax())
        raise InputError(
            f"{where}, column {str(column.name)!r}, row {row + 1}: weight {weights[row]:g} is not positive; {_DROP}"
        )
    fits = (weights >= LEAST_WEIGHT) & (weights <= MOST_WEIGHT)
    if not fits.all():
        what = f"is not between {LEAST_WEIGHT:g} and {MOST_WEIGHT:g}"
        raise fault(column, int(fits.argmin()), what, where, "use another unit for the weights")
    return weights


def times_counted(column: pd.Series, where: str) -> np.ndarray:
    """Multiplicity of each edge: 2 for edges in both directions, which stand for two rows."""
    text = as_values(column).str.lower()
    both = text.isin(_BOTH).to_numpy()
    wrong = ~(both | text.isin(_ONE).to_numpy())
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{where}, column {str(column.name)!r}, row {row + 1}: {text.iloc[row]!r} is not a direction; write"
            f" {', '.join(_ONE[1:])} for one, {', '.join(_BOTH)} for both"
        )
    return 1 + both


def as_pointed(pairs: np.ndarray, column: pd.Series) -> np.ndarray:
    """The pairs with source and target exchanged in rows whose direction is ``<-`` or ``in``."""
    back = as_values(column).str.lower().isin(_BACK).to_numpy()
    return np.where(back[:, None], pairs[:, ::-1], pairs)


def _look_up(names: pd.Series, ids: pa.LargeStringArray) -> np.ndarray:
    """Position of each name among the unique ids, -1 if not found."""
    found: np.ndarray = pc.index_in(one_array(names), value_set=ids).fill_null(-1).to_numpy().copy()
    strays = found < 0
    if strays.any():  # an integer column with missing values is saved as "1.0"
        whole = one_array(_without_point_zero(names[strays]))
        found[strays] = pc.index_in(whole, value_set=ids).fill_null(-1).to_numpy()
    return found


def _without_point_zero(ids: pd.Series) -> pd.Series:
    return ids.str.replace(r"^(-?\d+)\.0+$", r"\1", regex=True)
