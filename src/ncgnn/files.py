"""Files: written so that they survive a kill, beside their place and then moved there, and locked; settings as TOML."""

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout, lock_descriptor

from ncgnn.errors import InputError
from ncgnn.temporary import temporary_file

PARQUET = (".parquet", ".pq")


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def atomic(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file for writing that appears at ``path`` only when the block ends well; otherwise nothing changes."""
    encoding = None if "b" in mode else "utf-8"
    place = check_place(path)
    try:
        with temporary_file(place.parent) as (handle, temporary):
            with open(handle, mode, encoding=encoding, closefd=False) as file:
                yield file
                file.flush()
                os.fsync(handle)
            os.chmod(temporary, 0o666 & ~_UMASK)
            os.replace(temporary, place)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None


def check_place(path: str | Path) -> Path:
    """Where a file is to be written, a link followed; whether one can be there may be asked before long work."""
    try:
        place = Path(path).resolve()
        place.exists()
    except (OSError, RuntimeError, ValueError) as error:  # a link to itself, a name that no file can have
        raise InputError(f"{path}: cannot be written ({error})") from None
    if place.exists() and not place.is_file():
        raise InputError(f"{path}: cannot be written (it exists and is not a file)")
    if not place.parent.is_dir():
        raise InputError(f"{path}: cannot be written (there is no folder {Path(path).parent})")
    return place


def _umask() -> int:
    """Which permissions the user keeps from new files; there is no way to ask without setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_UMASK = _umask()  # asked once, before there are threads that could ask at the same time


def sync_folder(folder: Path) -> None:
    """New names survive a power cut only when their folder is on disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone on this machine while the block runs; the system frees a lock when a process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        yield


def try_lock(path: Path) -> FileLock | None:
    """The lock, held until it is released; None if another process has it."""
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return None
    return lock


@contextmanager
def open_locked(path: Path) -> Iterator[int]:
    """A file to read and append to, itself locked while the block runs; it is made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        lock_descriptor(handle)
        yield handle
    finally:
        os.close(handle)


def toml(values: Mapping[str, Any]) -> str:
    """A text that :func:`read_toml` takes, one line per value; what has no value is left out."""
    return "".join(f"{key} = {_inline(value)}\n" for key, value in values.items() if value is not None)


def _inline(value: Any) -> str:
    """A value as in JSON, but for tables."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(toml(value).splitlines()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inline, value))}]"
    return json.dumps(value, ensure_ascii=False)


def read_toml(path: str | Path) -> dict[str, Any]:
    """The values of a TOML file."""
    if Path(path).exists() and not Path(path).is_file():  # a pipe may never end
        raise InputError(f"{path}: cannot be read (not a regular file)")
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})") from None
    except RecursionError:
        raise InputError(f"{path}: not valid TOML: nested too deeply") from None
    except ValueError as error:  # integers of thousands of digits as well
        raise InputError(f"{path}: not valid TOML: {str(error).split(';')[0]}") from None
