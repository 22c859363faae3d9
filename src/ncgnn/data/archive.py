"""Arrays of an ``.npz`` file, whose declared sizes are compared with the file's before any is made."""

import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ncgnn.errors import InputError
from ncgnn.memory import check_memory

FAULTS = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError)
_UNREADABLE = (*FAULTS, RuntimeError, OverflowError, SyntaxError, TypeError)  # an encrypted member, an odd header
_COPIES = 3  # of an array, until it is a tensor


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays by name. Nothing in the file is executed."""
    if not path.is_file():
        raise InputError(f"{path}: {'is a folder, not a file' if path.is_dir() else 'no such file'}")
    try:
        with path.open("rb") as file:
            size = _declared(file)
            check_memory(_COPIES * size, f"{path}: reading its arrays", "use a smaller graph")
            file.seek(0)
            loaded = np.load(file, allow_pickle=False)
            return {key: np.asarray(loaded[key]) for key in loaded.files} if hasattr(loaded, "files") else {}
    except InputError:
        raise
    except _UNREADABLE as error:
        reason = "it contains pickles" if "pickle" in str(error) else " ".join(str(error).split())
        raise InputError(f"{path}: not a readable .npz file of plain arrays ({reason})") from error


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
