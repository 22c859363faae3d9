"""Finished runs on disk: complete lines, appended once."""

import csv
import io
import os
import re
from pathlib import Path
from typing import NamedTuple

from ncgnn.errors import InputError
from ncgnn.files import atomic, open_locked, sync_folder


class RunRow(NamedTuple):
    """A finished run. The first eight columns identify it."""

    table: str
    dataset: str
    setting: str
    model: str
    split: str
    seed: str
    config_hash: str
    graph: str
    val_accuracy: str
    test_accuracy: str
    roc_auc: str
    epoch: str
    seconds: str
    ncgnn: str
    torch: str
    pyg: str
    numpy: str
    commit: str
    cpu: str
    date: str

    @property
    def key(self) -> tuple[str, ...]:
        return self[:8]


class RunStore:
    """Two folders: ``runs`` with a file per table, dataset and model, and ``configs`` with the settings."""

    def __init__(self, results: Path) -> None:
        self.folder, self.configs = results / "runs", results / "configs"

    def file(self, table: str, dataset: str, model: str) -> Path:
        return self.folder / f"{table}-{dataset}-{re.sub(r'[^a-z0-9]+', '-', model.lower())}.csv"

    @property
    def _files(self) -> list[Path]:
        found = sorted(self.folder.glob("*.csv"))
        for path in found:
            if not path.is_file():  # a pipe may never end
                raise InputError(f"{path}: cannot be read (not a regular file)")
        return found

    def read(self) -> list[RunRow]:
        """All rows, without incomplete lines and duplicates."""
        rows = [row for path in self._files for row in _parse(path, path.read_bytes())]
        return list({row.key: row for row in reversed(rows)}.values())[::-1]

    def append(self, row: RunRow) -> bool:
        """Add a finished run, unless another process has already added it; return whether it was added."""
        path = self.file(row.table, row.dataset, row.model)
        is_new = not path.exists()
        with open_locked(path) as handle:
            content = _repaired(handle)
            if row.key in {old.key for old in _parse(path, content)}:
                return False
            _write(handle, _lines(row) if content else _lines(RunRow._fields, row))
        if is_new:
            sync_folder(self.folder)
        return True

    def keep_config(self, config_hash: str, toml: str) -> None:
        """Store the settings behind a hash, so that runs can be repeated."""
        path = self.configs / f"{config_hash}.toml"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic(path) as file:
                file.write(toml)

    def repair(self) -> None:
        """Remove an incomplete last line left by a killed process."""
        for path in self._files:
            with open_locked(path) as handle:
                _repaired(handle)


def _repaired(handle: int) -> bytes:
    content = os.pread(handle, os.fstat(handle).st_size, 0)
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        os.ftruncate(handle, len(whole))
    return whole


def _write(handle: int, lines: bytes) -> None:
    written = os.write(handle, lines)
    if written != len(lines):  # disk full; the next writer removes the incomplete line
        raise InputError(f"only {written} of {len(lines)} bytes of a result could be written: is the disk full?")
    os.fsync(handle)


def _lines(*rows: tuple[str, ...]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _parse(path: Path, content: bytes) -> list[RunRow]:
    text = content[: content.rfind(b"\n") + 1].decode("utf-8", errors="replace")
    lines = list(csv.reader(text.splitlines()))
    for number, line in enumerate(lines, start=1):
        if not (tuple(line) == RunRow._fields if number == 1 else _is_row(line)):
            raise InputError(f"{path}, line {number}: not a row of results: correct or delete the line")
    return [RunRow(*line) for line in lines[1:]]


def _is_row(line: list[str]) -> bool:
    """Check that the numbers used by a report are numbers, and fractions from 0 to 1."""
    if len(line) != len(RunRow._fields):
        return False
    row = RunRow(*line)
    shares = [row.val_accuracy, row.test_accuracy, *([row.roc_auc] if row.roc_auc else [])]
    try:
        return min(int(row.split), int(row.seed)) >= 0 and all(0 <= float(share) <= 1 for share in shares)
    except ValueError:
        return False
