"""Numeric and date columns: one standardised feature."""

import numpy as np
import pandas as pd

from ncgnn.data.tables.columns.date import checked_days
from ncgnn.data.tables.columns.values import checked_numbers
from ncgnn.data.tables.encoding import Column, Kind
from ncgnn.errors import InputError

_EXPECTED = {"numeric": "numbers", "date": "dates like 2024-12-31"}


def raw_numbers(column: pd.Series, kind: Kind, where: str) -> np.ndarray:
    """The values of a fitted column as float64, dates as days; nan if missing."""
    advice = f"the model expects {_EXPECTED[kind]} in this column: correct it, or leave it blank"
    return checked_days(column, where, advice) if kind == "date" else checked_numbers(column, where, advice)


def learn_numbers(column: pd.Series, kind: Kind, where: str) -> Column | None:
    """The column with mean and scale over all rows; None if all values are blank."""
    values = checked_days(column, where) if kind == "date" else checked_numbers(column, where)
    return learn_values(str(column.name), values, kind)


def learn_values(name: str, values: np.ndarray, kind: Kind = "numeric") -> Column | None:
    """As :func:`learn_numbers`, from values that are nan if missing."""
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    if kind == "numeric" and ((values == 0) | (values == 1)).all():
        return Column(name=name, kind=kind, flag=True)
    mean, scale = mean_and_scale(values)
    return Column(name=name, kind=kind, mean=mean, scale=scale)


def mean_and_scale(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation; constant columns have scale 1."""
    # with rounding, constant columns can have a tiny deviation, and tiny differences none
    constant = values.min() == values.max()
    return float(values.mean()), 1.0 if constant else float(values.std()) or 1.0


def scale_numbers(values: np.ndarray, column: Column, where: str) -> np.ndarray:
    """The feature (N,) in float32; missing values become the mean, or 0 in a column of zeros and ones."""
    scaled = (values - column.mean) / column.scale
    wild = np.abs(scaled) > np.finfo(np.float32).max
    if wild.any():
        row = int(wild.argmax())
        raise InputError(
            f"{where}, column {column.name!r}, row {row + 1}: {values[row]:g} is too far from the values the"
            f" column was encoded with (mean {column.mean:g}, deviation {column.scale:g})"
        )
    return np.nan_to_num(scaled).astype(np.float32)


def describe_numbers(values: np.ndarray, kind: Kind) -> str:
    """Minimum, maximum and number of missing values."""
    missing = int(np.isnan(values).sum())
    gaps = f", {missing} missing" if missing else ""
    if missing == len(values):
        return f"all {missing} missing"
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return f"{_shown(low, kind)} to {_shown(high, kind)}{gaps}"


def _shown(value: float, kind: Kind) -> str:
    return str(np.datetime64(int(np.floor(value)), "D")) if kind == "date" else f"{value:g}"
