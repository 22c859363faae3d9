"""Arrays of ``.npz`` and ``.npy`` files, whose declared sizes are compared with the file's before any is made."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ncgnn.errors import InputError
from ncgnn.memory import check_memory

FAULTS = (
    *(OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error),
    *(RuntimeError, OverflowError, SyntaxError, TypeError, TokenError),  # an encrypted member, an odd header
)
_COPIES = 3  # of an array, until it is a tensor


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an ``.npz`` file by name. Nothing in the file is executed."""
    with _opened(path, ".npz file of plain arrays") as file:
        size = _declared(file)
        check_memory(_COPIES * size, f"{path}: reading its arrays", "use a smaller graph")
        file.seek(0)
        loaded = np.load(file, allow_pickle=False)
        return {key: np.asarray(loaded[key]) for key in loaded.files} if hasattr(loaded, "files") else {}


def read_array(path: Path) -> np.ndarray:
    """The array of an ``.npy`` file."""
    with _opened(path, ".npy file of a plain array") as file:
        size = _declared_by(file)
        if size > path.stat().st_size:
            raise ValueError("it is cut off")
        check_memory(_COPIES * size, f"{path}: reading it", "use a smaller table")
        file.seek(0)
        return np.asarray(npy.read_array(file, allow_pickle=False))


@contextmanager
def _opened(path: Path, what: str) -> Iterator[IO[bytes]]:
    """The file; what is wrong with it as :class:`InputError`."""
    if not path.is_file():
        raise InputError(f"{path}: {'is a folder, not a file' if path.is_dir() else 'no such file'}")
    try:
        with path.open("rb") as file:
            yield file
    except InputError:
        raise
    except FAULTS as error:
        reason = "it contains pickles" if "pickle" in str(error) else " ".join(str(error).split())
        raise InputError(f"{path}: not a readable {what} ({reason})") from error


def _declared(file: IO[bytes]) -> int:
    """Bytes of all arrays; ``ValueError`` if one says that it is larger than its member of the file."""
    if not zipfile.is_zipfile(file):
        return 0
    total = 0
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            with archive.open(member) as content:
                size = _declared_by(content)
            if size > member.file_size:
                raise ValueError(f"array {member.filename.removesuffix('.npy')!r} is cut off")
            total += member.file_size
    return total


def _declared_by(content: IO[bytes]) -> int:
    """Bytes of the array in one member."""
    version = npy.read_magic(content)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(content)
    return prod(shape) * dtype.itemsize
