"""Columns of plain numbers, recognised and converted many at once: thousands of columns take too long one by one."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from ncgnn.data.tables.columns.values import MISSING, TOO_LARGE

_CELLS = 1 << 20  # converted at once


def plain_numbers(table: pd.DataFrame, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Those of the named columns that hold nothing but numbers and blanks, as float64 with nan for blanks.

    A column with anything else, or with leading zeros like those of a postcode, is left to the rules for single
    columns, which give the same numbers.
    """
    found: dict[str, np.ndarray] = {}
    for part in _chunks(table, names):
        is_text = not all(types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) for kind in part.dtypes)
        numbers, plain = _of_text(part) if is_text else _of_numbers(part)
        found |= {name: numbers[:, i] for i, name in enumerate(part.columns) if plain[i]}
    return found


def _may_be_plain(column: pd.Series) -> bool:
    """Judged by its type and its first value."""
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return not types.is_complex_dtype(column.dtype)
    first = column.iloc[0] if len(column) else None
    return isinstance(column.dtype, pd.StringDtype) and (pd.isna(first) or first.strip()[-1:] in "0123456789.")


def _chunks(table: pd.DataFrame, names: Iterable[str]) -> Iterator[pd.DataFrame]:
    """Columns of one type, as many as are converted at once."""
    most = max(1, _CELLS // max(1, len(table)))
    alike: dict[Any, list[str]] = {}
    for name in names:
        column = table[name]
        if _may_be_plain(column):
            alike.setdefault(column.dtype, []).append(name)
    for group in alike.values():
        yield from (table[group[start : start + most]] for start in range(0, len(group), most))


def _of_numbers(part: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.asfortranarray(part.to_numpy(np.float64, na_value=np.nan))
    sound = (np.abs(numbers) < TOO_LARGE) | part.isna().to_numpy()
    return numbers, sound.all(axis=0) & ~np.isnan(numbers).all(axis=0)


def _of_text(part: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    cells = pd.Series(part.to_numpy(object).ravel("F"), dtype="str").str.strip()
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    blank = cells.isna() | cells.isin(["", *MISSING])
    sound = (np.abs(numbers) < TOO_LARGE) | blank.to_numpy(bool)
    sound &= ~cells.str.match(r"0\d").to_numpy(bool, na_value=False)
    columns = numbers.reshape(part.shape, order="F")
    plain = sound.reshape(part.shape, order="F").all(axis=0)
    return columns, plain & ~np.isnan(columns).all(axis=0)
