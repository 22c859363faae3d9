"""Dates as numbers: days since 1970."""

import numpy as np
import pandas as pd
from pandas.api import types

from ncgnn.data.tables.columns.values import as_values, fault
from ncgnn.errors import InputError

_ADVICE = "write dates like 2024-12-31 or 2024-12-31 23:59, leave it blank, or declare the column categorical"
_DAY = pd.Timedelta(days=1)
_FIRST = pd.Timestamp("1970-01-01", tz="UTC")


def as_days(column: pd.Series) -> np.ndarray:
    """Values as days since 1970 in float64, nan if there is no date; text must be ISO 8601 or like 31.12.2024."""
    values = column if types.is_datetime64_any_dtype(column.dtype) else as_values(column).replace("", None)
    dates = pd.to_datetime(values, format="ISO8601", utc=True, errors="coerce")
    if dates.isna().any() and not types.is_datetime64_any_dtype(column.dtype):
        dates = dates.fillna(pd.to_datetime(values, format="%d.%m.%Y", utc=True, errors="coerce"))
    try:
        return ((dates - _FIRST) / _DAY).to_numpy(np.float64, na_value=np.nan)
    except (ValueError, OverflowError) as error:  # pandas counts days of a limited range of years
        raise InputError(f"column {str(column.name)!r}: a date is too far from today ({error}): correct it") from error


def checked_days(column: pd.Series, where: str, advice: str = _ADVICE) -> np.ndarray:
    """Values as days, nan if missing; :class:`InputError` for the first value that is not a date."""
    days = as_days(column)
    wrong = np.isnan(days) & (as_values(column) != "").to_numpy()
    if wrong.any():
        raise fault(column, int(wrong.argmax()), "is not a date", where, advice)
    return days


def are_dates(column: pd.Series, text: pd.Series) -> bool:
    """Whether every value is a date; ``text`` is the column as text, "" for missing values."""
    if types.is_datetime64_any_dtype(column.dtype):
        return True
    # checking one value first is enough for most columns
    filled = text[text != ""]
    if filled.empty or not filled.iloc[:1].str.match(r"\d{4}-\d|\d{1,2}\.\d{1,2}\.\d{4}$").all():
        return False
    return not np.isnan(as_days(filled)).any()
