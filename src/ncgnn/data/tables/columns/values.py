"""Convert a table column of any type to text or numbers."""

import numpy as np
import pandas as pd
from pandas.api import types

from ncgnn.errors import InputError

_ADVICE = "correct it, leave it blank, declare the column categorical, or ignore it"
MISSING = ("NaN", "nan", "NULL", "null", "<NA>", "#N/A")  # null values written by programs; NA and None may be names
TOO_LARGE = 1e30  # features are float32, whose squares must stay finite


def as_text(column: pd.Series) -> pd.Series:
    """Values as stripped text; missing ones as "".

    Integers stored as floats, because the column has missing values, lose the ".0" so that they match integers.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if types.is_float_dtype(column.dtype) and _is_whole(column):
        column = column.astype("Float64").astype("Int64")
    try:
        return column.astype("str").mask(column.isna(), "").str.strip()
    except UnicodeError as error:
        raise InputError(f"column {str(column.name)!r}: contains text that is not valid Unicode: correct it") from error
    except (ValueError, OverflowError, TypeError) as error:  # times out of the range that pandas can write
        raise InputError(f"column {str(column.name)!r}: {column.dtype} values that are no text ({error})") from error


def as_values(column: pd.Series) -> pd.Series:
    """Values as text like :func:`as_text`, with null values written by programs as ""."""
    text = as_text(column)
    return text.mask(text.isin(MISSING), "")


def as_numbers(column: pd.Series) -> np.ndarray:
    """Values as float64, nan for non-numbers; true and false are 1 and 0."""
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan)
    text = as_text(column)
    lower = text.str.lower()
    if lower.isin(["true", "false", ""]).all():
        return lower.map({"true": 1.0, "false": 0.0}).to_numpy(np.float64, na_value=np.nan)
    return pd.to_numeric(text, errors="coerce").to_numpy(np.float64)


def checked_numbers(column: pd.Series, where: str, advice: str = _ADVICE) -> np.ndarray:
    """Values as float64, nan if missing; :class:`InputError` for the first value that is not a finite number."""
    numbers = as_numbers(column)
    wrong = ~(np.abs(numbers) < TOO_LARGE)
    wrong[wrong] = (as_values(column[wrong]) != "").to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        if np.isfinite(numbers[row]):
            raise fault(column, row, "is too large", where, advice)
        raise no_number(column, row, where, advice)
    return numbers


def no_number(column: pd.Series, row: int, where: str, advice: str = _ADVICE) -> InputError:
    """The error for a value that is not a number."""
    if as_text(column.iloc[[row]]).str.fullmatch(r"[+-]?\d+,\d+").all():
        return fault(column, row, "has a comma", where, "write numbers like 3.5")
    return fault(column, row, "is not a finite number", where, advice)


def fault(column: pd.Series, row: int, what: str, where: str, advice: str = _ADVICE) -> InputError:
    """The error for a value, with its position; ``row`` counts from 0."""
    value = as_text(column.iloc[[row]]).iloc[0]
    said = f"{value!r} {what}" if as_values(column.iloc[[row]]).iloc[0] else "the value is missing"
    return InputError(f"{where}, column {str(column.name)!r}, row {row + 1}: {said}; {advice}")


def _is_whole(column: pd.Series) -> bool:
    values = column.to_numpy(np.float64, na_value=np.nan)
    values = values[~np.isnan(values)]
    return bool((np.abs(values) < 2**53).all() and (values == np.floor(values)).all())
