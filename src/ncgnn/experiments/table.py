"""A table of the report, independent of its output format."""

from dataclasses import dataclass

from ncgnn.experiments.statistics import Estimate

Value = str | int | float | None
NOT_RUN = "not run yet"


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
