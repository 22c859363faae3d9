"""Feature columns of a node table: choose how each is encoded, and encode."""

import warnings
from collections.abc import Collection

import numpy as np
import pandas as pd
import scipy.sparse as sp
from pandas.api.types import is_scalar
from torch import Tensor

from ncgnn.data.columns import as_values, checked_numbers, is_numeric
from ncgnn.data.encoding import Column
from ncgnn.data.graph import SPARSE_BELOW, feature_tensor
from ncgnn.data.roles import check_column
from ncgnn.errors import InputError

_MANY_VALUES = 20


def choose_columns(table: pd.DataFrame, categorical: Collection[str], where: str) -> tuple[Column, ...]:
    """An encoding for each column; free text, keys and empty columns are left out with a warning."""
    chosen = [_choose(table[name], name in categorical, where) for name in table.columns]
    columns = tuple(column for column in chosen if column is not None)
    if not columns:
        raise InputError(
            f"{where}: no feature column is left, and none is made up: add columns that describe the nodes"
            " (numbers or categories)"
        )
    return columns


def encode(table: pd.DataFrame, columns: tuple[Column, ...], where: str) -> Tensor:
    """Features of the rows of ``table``; a category that is not among a column's own becomes zeros with a warning."""
    for column in columns:
        check_column(table, column.name, where)
    blocks = [
        _numbers(table[column.name], column, where)
        if column.kind == "numeric"
        else _one_hot(table[column.name], column)
        for column in columns
    ]
    return feature_tensor(_stack(blocks, len(table)))


def _stack(blocks: list[np.ndarray | sp.csc_array], rows: int) -> np.ndarray | sp.csr_array:
    """All blocks side by side, as a sparse matrix only where that is the smaller one."""
    width = sum(block.shape[1] for block in blocks)
    filled = sum(block.nnz if isinstance(block, sp.csc_array) else np.count_nonzero(block) for block in blocks)
    if filled < SPARSE_BELOW * rows * width:
        return sp.hstack([sp.csc_array(block) for block in blocks], format="csr")
    out, start = np.empty((rows, width), np.float32), 0
    for block in blocks:
        out[:, start : start + block.shape[1]] = block.toarray() if isinstance(block, sp.csc_array) else block
        start += block.shape[1]
    return out


def _choose(column: pd.Series, categorical: bool, where: str) -> Column | None:
    name = str(column.name)
    _check_scalars(column, where)
    if not name:
        warnings.warn(f"{where}: a column without a name is left out", UserWarning, stacklevel=4)
        return None
    if not categorical and is_numeric(column, where):
        mean, scale = _standard(checked_numbers(column, where))
        return Column(name=name, kind="numeric", mean=mean, scale=scale)
    text = as_values(column)
    values = sorted(set(text.unique()) - {""})
    reason = _unfit(len(values), len(text), categorical)
    if reason:
        warnings.warn(f"{where}, column {name!r}: {reason}: left out", UserWarning, stacklevel=4)
        return None
    return Column(name=name, kind="categorical", categories=tuple(values))


def _unfit(distinct: int, rows: int, categorical: bool) -> str:
    if distinct == 0:
        return "every value is blank"
    if not categorical and distinct > _MANY_VALUES and distinct > rows / 2:
        return f"{distinct} different values in {rows} rows look like free text or a key"
    return ""


def _standard(values: np.ndarray) -> tuple[float, float]:
    """Mean and scale; zeros and ones stay as they are, a constant column is only shifted."""
    if np.isin(values, (0, 1)).all():
        return 0.0, 1.0
    # rounding gives some constant columns a tiny deviation, and tiny differences none
    constant = values.min() == values.max()
    return float(values.mean()), 1.0 if constant else float(values.std()) or 1.0


def _numbers(column: pd.Series, spec: Column, where: str) -> np.ndarray:
    values = (checked_numbers(column, where) - spec.mean) / spec.scale
    wild = np.abs(values) > np.finfo(np.float32).max
    if wild.any():
        row = int(wild.argmax())
        raise InputError(
            f"{where}, column {spec.name!r}, row {row + 1}: {column.iloc[row]} is too far from the values that the"
            f" column was encoded with (mean {spec.mean:g}, deviation {spec.scale:g})"
        )
    return values.astype(np.float32)[:, None]


def _one_hot(column: pd.Series, spec: Column) -> sp.csc_array:
    text = as_values(column)
    codes = pd.Index(spec.categories, dtype="str").get_indexer(pd.Index(text))
    unseen = text[(codes < 0) & (text != "").to_numpy()]
    if len(unseen):
        warnings.warn(
            f"column {spec.name!r}: {unseen.nunique()} unknown categories in {len(unseen)} rows count as blank"
            f" (first: {unseen.iloc[0]!r})",
            UserWarning,
            stacklevel=4,
        )
    rows = np.flatnonzero(codes >= 0)
    entries = (np.ones(len(rows), np.float32), (rows, codes[rows]))
    return sp.csc_array(entries, shape=(len(text), len(spec.categories)))


def _check_scalars(column: pd.Series, where: str) -> None:
    kinds = [type(value) for value in column.dropna().head(1) if not is_scalar(value) or isinstance(value, complex)]
    if kinds:
        raise InputError(
            f"{where}, column {str(column.name)!r}: holds {kinds[0].__name__} values, not numbers or text; give each"
            " feature its own column, or name the column to be ignored"
        )
