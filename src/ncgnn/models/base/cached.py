"""Files of the cache folder: arrays, the key of what they are, and a checksum."""

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ncgnn.errors import InputError
from ncgnn.files import atomic


def read_cached(
    path: Path, key: str, names: Sequence[str], check: Callable[[list[np.ndarray]], None]
) -> list[np.ndarray] | None:
    """The arrays with these names; None if there is no such file, or one that is not as it was written, which is noted.

    Args:
        path: the file.
        key: what it must be.
        names: of the arrays.
        check: raises ``ValueError`` for arrays that cannot be used.
    """
    if not (path.is_file() and os.access(path, os.R_OK)):
        return None
    try:
        arrays = _arrays(path, key, names)
        check(arrays)
    except FileNotFoundError:  # removed a moment ago
        return None
    except Exception as error:  # whatever is wrong with the file, its arrays can be made again
        warnings.warn(f"{path}: damaged cache file; preparing it again ({error})", UserWarning, stacklevel=2)
        return None
    with suppress(OSError):
        os.utime(path)  # used just now
    return arrays


def write_cached(path: Path, key: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write what :func:`read_cached` reads; a folder that is not writable is noted."""
    contents: dict[str, Any] = {"key": np.array(key), "checksum": np.array(checksum(arrays.values())), **arrays}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic(path, "wb") as file:
            np.savez(file, **contents)
    except (OSError, InputError):
        # the same message for all files in the folder, so that the warning is shown once
        message = f"{path.parent}: not writable, so nothing is cached; set NCGNN_CACHE"
        warnings.warn(f"{message} to another folder, or to nothing to disable caching", UserWarning, stacklevel=2)


def checksum(arrays: Iterable[np.ndarray]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(path: Path, key: str, names: Sequence[str]) -> list[np.ndarray]:
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:  # a zip file, with checksums
        if str(file["key"]) != key:
            raise ValueError("it belongs to something else")
        arrays = [file[name] for name in names]
        if str(file["checksum"]) != checksum(arrays):
            raise ValueError("its checksum is wrong")
        return arrays
