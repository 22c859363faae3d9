"""A table's column as text or as numbers, whatever type it came with."""

import numpy as np
import pandas as pd
from pandas.api import types

from ncgnn.errors import InputError

_ADVICE = "correct it, or name the column as categorical or to be ignored"
_MISSING = ("NaN", "nan", "NULL", "null", "<NA>", "#N/A")  # what programs write for nothing; NA and None may be names
_TOO_LARGE = 1e30  # features are float32, whose squares must stay finite


def as_text(column: pd.Series) -> pd.Series:
    """Values as text without surrounding blanks; missing ones as "".

    Whole numbers that arrive as floats, because their column has gaps, lose the ".0": they match integers.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if types.is_float_dtype(column.dtype) and _is_whole(column):
        column = column.astype("Float64").astype("Int64")
    try:
        return column.astype("str").fillna("").str.strip()
    except UnicodeEncodeError as error:
        raise InputError(f"column {str(column.name)!r}: holds text that is not valid Unicode: correct it") from error


def as_values(column: pd.Series) -> pd.Series:
    """Values as text like :func:`as_text`, and "" also for what programs write where there is none."""
    text = as_text(column)
    return text.mask(text.isin(_MISSING), "")


def as_numbers(column: pd.Series) -> np.ndarray:
    """Values as float64, nan where there is no number; true and false are 1 and 0."""
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan)
    text = as_text(column)
    lower = text.str.lower()
    if lower.isin(["true", "false", ""]).all():
        return lower.map({"true": 1.0, "false": 0.0}).to_numpy(np.float64, na_value=np.nan)
    return pd.to_numeric(text, errors="coerce").to_numpy(np.float64)


def checked_numbers(column: pd.Series, where: str, advice: str = _ADVICE) -> np.ndarray:
    """Values as float64; the first one that is blank, no number or infinite is an :class:`InputError`."""
    numbers = as_numbers(column)
    wrong = ~(np.abs(numbers) < _TOO_LARGE)
    if wrong.any():
        row = int(wrong.argmax())
        value = as_text(column.iloc[[row]]).iloc[0]
        fault = f"{value!r} is not a finite number" if value and value.lower() != "nan" else "the value is missing"
        raise InputError(f"{where}, column {str(column.name)!r}, row {row + 1}: {fault}; {advice}")
    return numbers


def is_numeric(column: pd.Series, where: str) -> bool:
    """Whether a feature column holds numbers; a text column with some few non-numbers is an :class:`InputError`."""
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return True
    filled = (as_text(column) != "").to_numpy()
    share = np.isfinite(as_numbers(column)[filled]).mean() if filled.any() else 0.0
    if 0.9 < share < 1:
        checked_numbers(column, where)
    return share == 1


def _is_whole(column: pd.Series) -> bool:
    values = column.to_numpy(np.float64, na_value=np.nan)
    values = values[~np.isnan(values)]
    return bool((np.abs(values) < 2**53).all() and (values == np.floor(values)).all())
