"""Intermediate results of all nodes, in files that nobody else sees."""

import errno
import os
import tempfile
from math import prod
from pathlib import Path
from shutil import disk_usage

import numpy as np
import torch
from torch import Tensor

from ncgnn.errors import InputError


def scratch(folder: Path, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
    """Zeros in a file without a name, mapped into memory, that disappears with the process.

    All of its room on the disk is taken now: where a mapped file grows on a full disk, the system kills the process.
    """
    dtype = dtype or torch.get_default_dtype()
    size = prod(shape) * dtype.itemsize
    with tempfile.TemporaryFile(dir=folder) as file:
        _take_room(file.fileno(), max(size, 1), folder)
        array = np.memmap(file, np.uint8, "r+", shape=(max(size, 1),))
    return torch.from_numpy(np.asarray(array))[:size].view(dtype).view(shape)


def _take_room(handle: int, size: int, folder: Path) -> None:
    try:
        if size > disk_usage(folder).free:  # not to fill the disk of others first
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, size)
        else:
            os.truncate(handle, size)
    except OSError as error:
        raise InputError(
            f"{folder}: no room for {size / 2**20:.0f} MB of temporary files ({error.strerror}): free some, or set"
            " NCGNN_CACHE to a folder on another disk"
        ) from None
