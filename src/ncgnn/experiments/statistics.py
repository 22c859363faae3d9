"""Means, intervals and verdicts, and tables of them. All accuracies are in percent."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Literal

from scipy.stats import t

from ncgnn.experiments.rows import RunRow

Verdict = Literal["above", "equal", "below"]
Value = str | int | float | None
NOT_RUN = "not run yet"


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its 95 % interval; None for a single value."""

    mean: float
    half: float | None


def estimate(values: Sequence[float]) -> Estimate:
    """Student's t-interval."""
    n = len(values)
    half = float(t.ppf(0.975, n - 1)) * stdev(values) / sqrt(n) if n > 1 else None
    return Estimate(fmean(values), half)


def units(rows: Iterable[RunRow], by: Literal["split", "seed"], column: str = "test_accuracy") -> dict[int, float]:
    """Means per split, because runs on the same split are not independent; with one split only, per seed."""
    values: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        values[int(getattr(row, by))].append(100 * float(getattr(row, column)))
    return {unit: fmean(found) for unit, found in sorted(values.items())}


def verdict(ours: Estimate, published: float, is_on_other_splits: bool) -> Verdict | None:
    """Compare with the published mean. If that was measured on other random splits, it varies as much as ours, and the
    interval of the difference is wider by the square root of two."""
    if ours.half is None:
        return None
    half = ours.half * (sqrt(2) if is_on_other_splits else 1)
    if published < ours.mean - half:
        return "above"
    return "below" if published > ours.mean + half else "equal"


def paired(ours: Mapping[int, float], other: Mapping[int, float]) -> Estimate | None:
    """The mean difference on the splits both were run on."""
    common = sorted(set(ours) & set(other))
    return estimate([ours[unit] - other[unit] for unit in common]) if common else None


@dataclass(frozen=True)
class Table:
    """A table to print; ``name`` is its file name."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: list[list[Value]]


def shown_estimate(found: Estimate | None) -> tuple[Value, Value]:
    """Mean and half-width as two columns."""
    return (NOT_RUN, None) if found is None else (found.mean, found.half)
