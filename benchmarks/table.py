"""Results as CSV files, a file for each part, with the machine in every row."""

import csv
from pathlib import Path
from typing import Any

from ncgnn.files import atomic, locked

Row = dict[str, Any]


def write(path: Path, rows: list[Row], machine: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as file:
        columns = dict.fromkeys(key for row in (*rows, machine) for key in row)
        table = csv.DictWriter(file, list(columns), lineterminator="\n")
        table.writeheader()
        table.writerows(machine | row for row in rows)


def read(path: Path) -> list[Row]:
    """The rows, with numbers parsed; empty if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def keep(path: Path, new: list[Row], key: tuple[str, ...]) -> None:
    """Replace older rows with the same key; other processes may have added rows in the meantime."""
    replaced = [_values(row, key) for row in new]
    with locked(path.with_suffix(".lock")):
        others = [row for row in read(path) if _values(row, key) not in replaced]
        write(path, [*others, *new], {})


def holds(rows: list[Row], wanted: Row) -> bool:
    """Whether a row has these values; a file does not tell a digest of digits alone from a number."""
    return any(all(str(row.get(key)) == str(value) for key, value in wanted.items()) for row in rows)


def latest(rows: list[Row]) -> list[Row]:
    """The rows with the same settings as the last one; means over different settings would be meaningless."""
    return [row for row in rows if row.get("config") == rows[-1].get("config")]


def _values(row: Row, key: tuple[str, ...]) -> list[Any]:
    return [row[name] for name in key]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if str(value) == text else text  # a commit like 12e4567 is no number
    return text
