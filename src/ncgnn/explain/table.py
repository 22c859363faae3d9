"""Write explanations of many nodes incrementally to one tidy table."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ncgnn.errors import InputError
from ncgnn.explain.node import NodeExplanation
from ncgnn.files import atomic

COLUMNS = ("id", "class", "kind", "name", "title", "contribution")
FORMATS = (".csv", ".parquet")

_BATCH = 1024  # explanations; a few tens of thousands of rows

Row = tuple[str, str, str, str, str, float]


def write_table(path: str | Path, explanations: Iterable[NodeExplanation]) -> None:
    """Write one row per contribution of each explanation to a CSV or Parquet file."""
    suffix = check_format(path)
    with atomic(path, "wb") as file:
        write_part(explanations, suffix, True, file)


def write_part(explanations: Iterable[NodeExplanation], suffix: str, is_first: bool, file: IO[bytes]) -> None:
    """The same for a part of a file of which only the first has a heading."""
    if suffix == ".parquet":
        _write_parquet(file, _batches(explanations))
    else:
        _write_csv(file, _batches(explanations), is_first)


def check_format(path: str | Path) -> str:
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise InputError(f"{path}: explanations are written as {' or '.join(FORMATS)} files: choose one of them")
    return suffix


def _batches(explanations: Iterable[NodeExplanation]) -> Iterator[list[Row]]:
    rest = iter(explanations)
    while batch := list(islice(rest, _BATCH)):
        yield [(one.node, one.subject, *row) for one in batch for row in one.rows()]


def _write_csv(file: IO[bytes], batches: Iterable[list[Row]], is_first: bool) -> None:
    text = io.TextIOWrapper(file, "utf-8", newline="")
    rows = csv.writer(text, lineterminator="\n")
    if is_first:
        rows.writerow(COLUMNS)
    for batch in batches:
        rows.writerows(batch)
    text.detach()  # writes what is left, and leaves the file open


def _write_parquet(file: IO[Any], batches: Iterable[list[Row]]) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([(name, pa.string()) for name in COLUMNS[:-1]] + [(COLUMNS[-1], pa.float64())])
    with ParquetWriter(file, schema) as writer:
        for batch in batches:
            columns = [
                pa.array(column, field.type) for column, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))
