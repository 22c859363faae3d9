"""Writing shards: by one process, or by several that share them out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from ncgnn.batches.shards import (
    MANIFEST,
    Damaged,
    File,
    Manifest,
    Shard,
    check_shard,
    read_manifest,
    shard_path,
)
from ncgnn.files import atomic, digest_of, locked

SHARD_ROWS = 2**15

Make = Callable[[range], Mapping[str, np.ndarray]]
"""The arrays of some rows."""


def write_shards(folder: Path, key: str, rows: int, make: Make, size: int = SHARD_ROWS) -> None:
    """Write the arrays that ``make`` returns for each range of rows.

    Finished shards are left alone, so an interrupted writing continues. Several processes that write the same, on one
    machine or in a common folder, each make shards that no other one is making, and return when all are there.
    """
    plan = [range(first, min(first + size, rows)) for first in range(0, rows, size)]
    with _changing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not _is_begun(folder, key, plan):
            _store(folder, Manifest(key=key, rows=rows))
    for waits in (False, True):  # first what nobody is making; in the end, what others have left unfinished
        for part in _missing(folder, plan):
            with _claimed(folder / f"{part.start:012d}.lock", waits) as is_own:
                if is_own and part in _missing(folder, [part]):
                    _add(folder, key, _written(folder, part, make(part)))


def forget_damaged(folder: Path) -> None:
    """Leave only shards that are as they were written, so that the others are made again."""
    with _changing(folder):
        try:
            found = read_manifest(folder)
        except Damaged:
            (folder / MANIFEST).unlink(missing_ok=True)
            return
        intact = [shard for shard in found.shards if _is_intact(folder, shard)]
        if len(intact) < len(found.shards):
            _store(folder, found.model_copy(update={"shards": intact}))


def _is_intact(folder: Path, shard: Shard) -> bool:
    try:
        check_shard(folder, shard)
    except Damaged:
        return False
    return True


def _is_begun(folder: Path, key: str, plan: list[range]) -> bool:
    if not (folder / MANIFEST).exists():
        return False
    found, rows = read_manifest(folder), plan[-1].stop if plan else 0
    parts = (range(shard.first, shard.first + shard.rows) for shard in found.shards)
    is_same = (found.key, found.rows) == (key, rows)
    return is_same and (found.finished == rows or all(part in plan for part in parts))


def _missing(folder: Path, plan: list[range]) -> list[range]:
    found = read_manifest(folder)
    firsts = {shard.first for shard in found.shards}
    return [] if found.finished == found.rows else [part for part in plan if part.start not in firsts]


def _written(folder: Path, part: range, arrays: Mapping[str, np.ndarray]) -> Shard:
    files = {}
    for name, array in arrays.items():
        path = shard_path(folder, part.start, name)
        with atomic(path, "wb") as file:
            np.save(file, array, allow_pickle=False)
        files[name] = File(path.stat().st_size, digest_of(path))
    return Shard(first=part.start, rows=len(part), files=files)


def _add(folder: Path, key: str, shard: Shard) -> None:
    with _changing(folder):
        found = read_manifest(folder)
        if found.key != key:
            raise Damaged(folder / MANIFEST, "another process writes another graph or filter to it")
        others = [one for one in found.shards if one.first != shard.first]
        shards = sorted([*others, shard], key=lambda one: one.first)
        _store(folder, found.model_copy(update={"shards": shards}))


def _store(folder: Path, manifest: Manifest) -> None:
    with atomic(folder / MANIFEST) as file:
        file.write(manifest.sealed.model_dump_json(indent=1))


@contextmanager
def _changing(folder: Path) -> Iterator[None]:
    with locked(folder.with_name(f"{folder.name}.lock")):
        yield


@contextmanager
def _claimed(path: Path, waits: bool) -> Iterator[bool]:
    """Whether this process is the one that makes a shard. The system frees the lock when a process ends."""
    lock = FileLock(path)
    try:
        lock.acquire(blocking=waits)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):  # whoever waits for the lock looks for the shard again
            path.unlink()
        lock.release()
