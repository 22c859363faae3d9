"""Write explanations of many nodes incrementally to one tidy table."""

import csv
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
    write = _write_parquet if check_format(path) == ".parquet" else _write_csv
    with atomic(path, "wb" if write is _write_parquet else "w") as file:
        write(file, _batches(explanations))


def check_format(path: str | Path) -> str:
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise InputError(f"{path}: explanations are written as {' or '.join(FORMATS)} files: choose one of them")
    return suffix


def _batches(explanations: Iterable[NodeExplanation]) -> Iterator[list[Row]]:
    rest = iter(explanations)
    while batch := list(islice(rest, _BATCH)):
        yield [(one.node, one.subject, *row) for one in batch for row in one.rows()]


def _write_csv(file: IO[Any], batches: Iterable[list[Row]]) -> None:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for batch in batches:
        rows.writerows(batch)


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
