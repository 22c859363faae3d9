"""Infer the kind of a feature column from its values."""

import numpy as np
import pandas as pd
from pandas.api import types

from ncgnn.data.tables.columns.date import are_dates
from ncgnn.data.tables.columns.text import count_spaced_words
from ncgnn.data.tables.columns.values import as_numbers, as_values, checked_numbers, fault
from ncgnn.data.tables.encoding import Kind

_MANY_VALUES = 20
_WORDS_OF_A_TEXT = 3


def guess_kind(column: pd.Series, where: str) -> Kind | None:
    """Numbers, dates, categories or text; None for a key, which carries no information about other nodes.

    A few non-numbers among numbers raise an :class:`~ncgnn.InputError`: they are more likely a mistake than categories.
    """
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return "numeric"
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categorical"
    text = as_values(column)
    filled = text[text != ""]
    if _are_codes(filled) and _kind_of_text(filled, len(text)) == "categorical":
        return "categorical"
    share = np.isfinite(as_numbers(filled)).mean() if len(filled) else 0.0
    if share > 0.9:
        checked_numbers(column, where)
        return "numeric"
    _check_comma(column, filled, where)
    return "date" if are_dates(column, text) else _kind_of_text(filled, len(text))


def _are_codes(filled: pd.Series) -> bool:
    """Whether values are digits of equal length, some with leading zeros, like postcodes."""
    is_even = filled.str.fullmatch(r"\d{2,}").all() and filled.str.len().nunique() == 1
    return bool(is_even and filled.str.startswith("0").any())


def _check_comma(column: pd.Series, filled: pd.Series, where: str) -> None:
    """Reject numbers with a decimal comma, which would be taken for categories."""
    if len(filled) and filled.str.fullmatch(r"[+-]?\d+(,\d+)?").all():
        row = as_values(column).str.contains(",").to_numpy().argmax()
        raise fault(column, int(row), "has a comma", where, "write numbers like 3.5, or declare the column categorical")


def _kind_of_text(filled: pd.Series, rows: int) -> Kind | None:
    distinct = filled.nunique()
    many, mostly = distinct > _MANY_VALUES, distinct > rows / 2
    if (many or mostly) and count_spaced_words(filled).mean() >= _WORDS_OF_A_TEXT:
        return "text"
    return None if many and mostly else "categorical"
