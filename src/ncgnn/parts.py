"""Large files written part by part: what a killed command has finished is found again by the same command."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ncgnn.files import PARQUET, atomic, check_place, locked
from ncgnn.temporary import remove

ROWS = 1 << 16
"""Nodes in a part."""

_KEY = "key"


class Parts:
    """The parts of a file, in a hidden folder beside it, until :meth:`join` makes the file of them.

    Args:
        out: the file.
        key: everything that its content depends on; parts with another key are removed.
    """

    def __init__(self, out: Path, key: str) -> None:
        self.out = check_place(out)
        self.folder, self.key = self.out.with_name(f".{self.out.name}.ncgnn-parts"), key

    def begin(self) -> None:
        """Remove parts that have another key."""
        place = self.folder / _KEY
        if place.is_file() and place.read_text("utf-8") == self.key:
            return
        for part in self.finished:
            remove(part)
        with atomic(place) as file:
            file.write(self.key)

    @property
    def finished(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*"))

    @property
    def rows(self) -> int:
        """The number of nodes in finished parts."""
        return max((int(part.name.split("-")[1]) for part in self.finished), default=0)

    def add(self, start: int, stop: int, write: Callable[[IO[Any]], None]) -> None:
        """The next part, for nodes ``start`` to ``stop``."""
        with atomic(self.folder / f"{start:012d}-{stop:012d}", "wb") as file:
            write(file)

    def join(self) -> None:
        """Write the file, and remove its parts."""
        with atomic(self.out, "wb") as file:
            _join(file, self.finished, self.out.suffix.lower() in PARQUET)
        remove(self.folder)


Piece = tuple[int, int, Callable[[IO[Any]], None]]
"""First node, the one after the last, and what writes the part."""


def write_in_parts(
    out: Path, key: Callable[[], str], total: int, parts: Callable[[int], Iterable[Piece]], size: int
) -> None:
    """Write a file about ``total`` nodes; one that fits into a part is written at once.

    Args:
        out: where to.
        key: gives everything that its content depends on.
        total: number of nodes.
        parts: given the number of nodes that are finished, the further parts.
        size: nodes in a part.
    """
    if total <= size:
        with atomic(out, "wb") as file:
            for _, _, write in parts(0):
                write(file)
        return
    stored = Parts(out, key())
    with locked(stored.folder / "lock"):
        stored.begin()
        for start, stop, write in parts(stored.rows):
            stored.add(start, stop, write)
        stored.join()


def _join(file: IO[Any], parts: Iterable[Path], is_parquet: bool) -> None:
    if not is_parquet:
        for part in parts:
            with part.open("rb") as opened:
                shutil.copyfileobj(opened, file)
        return
    from pyarrow.parquet import ParquetFile, ParquetWriter

    writer = None
    for batch, schema in _batches(parts, ParquetFile):
        writer = writer or ParquetWriter(file, schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()


def _batches(parts: Iterable[Path], reader: Any) -> Iterator[tuple[Any, Any]]:
    for part in parts:
        with reader(part) as opened:
            for group in range(opened.num_row_groups):
                yield opened.read_row_group(group), opened.schema_arrow
