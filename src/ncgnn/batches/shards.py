"""Rows in memory-mapped files: shards of plain ``.npy`` arrays, and a manifest with their checksums."""

import hashlib
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ValidationError

from ncgnn.data.archive import FAULTS
from ncgnn.errors import InputError
from ncgnn.files import digest_of

MANIFEST = "manifest.json"
_OPEN = 64  # shards that are open at a time: each array takes a file handle


class File(NamedTuple):
    """Size and checksum of an array."""

    bytes: int
    sha256: str


class Shard(BaseModel):
    """Rows ``first`` to ``first + rows``: a file for each array."""

    first: int
    rows: int
    files: dict[str, File]


class Manifest(BaseModel):
    """All shards of a folder; ``key`` names everything that their content depends on."""

    format: Literal["ncgnn-rows-2"] = "ncgnn-rows-2"
    key: str
    rows: int
    shards: list[Shard] = []
    checksum: str = ""

    @property
    def finished(self) -> int:
        """The number of rows that are written."""
        return sum(shard.rows for shard in self.shards)

    @property
    def sealed(self) -> "Manifest":
        """With its checksum."""
        text = self.model_dump_json(exclude={"checksum"})
        return self.model_copy(update={"checksum": hashlib.sha256(text.encode()).hexdigest()})


class Damaged(InputError):
    """Files that are not as they were written, or of something else."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}: delete the folder {path.parent.name}, then it is made again")
        self.path, self.reason = path, reason


class Shards:
    """The shards of a folder, opened as they are needed. All files are checked at once.

    Args:
        folder: where they are.
        key: what they must have been written for; None for anything.
    """

    def __init__(self, folder: Path, key: str | None = None) -> None:
        self.folder, self.manifest = folder, read_manifest(folder)
        if key not in (None, self.manifest.key):
            raise Damaged(folder / MANIFEST, "belongs to another graph or filter")
        if self.manifest.finished != self.manifest.rows:
            raise Damaged(folder / MANIFEST, "is unfinished")
        for shard in self.manifest.shards:
            check_shard(folder, shard)
        self.firsts = [shard.first for shard in self.manifest.shards]
        self._opened = lru_cache(_OPEN)(self._open)

    @property
    def rows(self) -> int:
        return self.manifest.rows

    def arrays(self, number: int) -> dict[str, np.ndarray]:
        """The arrays of a shard, mapped into memory."""
        return self._opened(number)

    def shard_of(self, row: int) -> int:
        return bisect_right(self.firsts, row) - 1

    def _open(self, number: int) -> dict[str, np.ndarray]:
        shard = self.manifest.shards[number]
        return {name: mapped(shard_path(self.folder, shard.first, name)) for name in shard.files}


def mapped(path: Path) -> np.ndarray:
    """An array whose pages are read from the file when they are used, and may be dropped again. It must not be
    written to; what is written does not reach the file."""
    try:
        return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
    except FAULTS:
        raise Damaged(path, "is not an array") from None


def read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    _check_regular(path)
    try:
        found = Manifest.model_validate_json(path.read_bytes())
    except OSError:
        raise Damaged(path, "is missing") from None
    except ValidationError:
        raise Damaged(path, "is damaged") from None
    if found.checksum != found.sealed.checksum:
        raise Damaged(path, "is damaged")
    return found


def shard_path(folder: Path, first: int, name: str) -> Path:
    """Where an array of the shard that begins with row ``first`` is."""
    return folder / f"{first:012d}-{name}.npy"


def check_shard(folder: Path, shard: Shard) -> None:
    """:class:`Damaged` unless its files are as they were written."""
    for name, about in shard.files.items():
        _check(shard_path(folder, shard.first, name), about)


def _check_regular(path: Path) -> None:
    if path.exists() and not path.is_file():  # a pipe may never end
        raise Damaged(path, "is not a regular file")


def _check(path: Path, about: File) -> None:
    _check_regular(path)
    try:
        is_same = path.stat().st_size == about.bytes and digest_of(path) == about.sha256
    except FileNotFoundError:
        raise Damaged(path, "is missing") from None
    except OSError:
        raise Damaged(path, "cannot be read") from None
    if not is_same:
        raise Damaged(path, "is damaged, or of another graph or filter")
