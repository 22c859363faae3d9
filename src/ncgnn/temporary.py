"""Temporary files and folders. A lock, which ends with its process, tells those in use from those left behind."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from filelock import lock_descriptor

_START, _END = ".ncgnn-", ".tmp"


@contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[int, Path]]:
    """A new file, open for writing, which is removed at the end unless it was moved away."""
    remove_abandoned(folder)
    handle, path = _own_file(folder)
    try:
        yield handle, path
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(handle)  # last: it ends the lock


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """A new folder inside ``folder``, which is removed at the end unless it was moved away."""
    remove_abandoned(folder)
    handle, path = _own_folder(folder)
    try:
        yield path
    finally:
        rmtree(path, ignore_errors=True)
        os.close(handle)


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left in a folder; what a process still uses is locked, and stays."""
    with suppress(OSError):  # another process removes as well, or this one may not
        for path in folder.glob(f"{_START}*{_END}"):
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                if lock_descriptor(handle, blocking=False):
                    remove(path)
            finally:
                os.close(handle)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _own_file(folder: Path) -> tuple[int, Path]:
    while True:
        handle, made = tempfile.mkstemp(dir=folder, prefix=_START, suffix=_END)
        if _is_ours(handle, folder / Path(made).name):
            return handle, folder / Path(made).name
        os.close(handle)


def _own_folder(folder: Path) -> tuple[int, Path]:
    while True:
        path = folder / Path(tempfile.mkdtemp(dir=folder, prefix=_START, suffix=_END)).name
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY)
            if _is_ours(handle, path):
                return handle, path
            os.close(handle)


def _is_ours(handle: int, path: Path) -> bool:
    """Lock it; False if another process took it for abandoned in the moment before."""
    with suppress(OSError):  # a file system without locks, where nothing is taken for abandoned either
        lock_descriptor(handle)
    return path.exists()
