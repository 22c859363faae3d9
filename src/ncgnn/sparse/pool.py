"""Memory pool for large intermediate results.

The system allocator returns large blocks to the kernel immediately, and the kernel clears them again, page by page, for
the next step: on a graph with ten thousand nodes, this costs more than the computation itself.
"""

import os
import weakref
from math import prod
from threading import RLock as Lock  # memory may be returned while some is being taken

import numpy as np
import torch
from torch import Tensor

_SMALLEST = 1 << 20  # bytes; the allocator reuses smaller blocks by itself
_ALIGNMENT = 64

_LARGEST = 4 << 30  # maximum number of bytes kept

_free: dict[int, list[np.ndarray]] = {}  # unused blocks by size, least recently used size first
_lock = Lock()


def empty(like: Tensor, *shape: int) -> Tensor:
    """An uninitialised tensor; its memory is returned when the last tensor that shares it is deleted."""
    size = prod(shape) * like.element_size()
    if like.device.type != "cpu" or size < _SMALLEST:
        return like.new_empty(shape)
    with _lock:
        home = _free
        blocks = home.pop(size, [])
        block = blocks.pop() if blocks else np.empty(size + _ALIGNMENT, np.uint8)
        home[size] = blocks
    start = -block.ctypes.data % _ALIGNMENT
    loan = block[start : start + size]
    weakref.finalize(loan, _take_back, home, size, block).atexit = False
    return torch.from_numpy(loan).view(like.dtype).view(shape)


def _take_back(home: dict[int, list[np.ndarray]], size: int, block: np.ndarray) -> None:
    with _lock:
        if home is not _free:  # lent before the pool was cleared
            return
        _free.setdefault(size, []).append(block)
        while sum(size * len(blocks) for size, blocks in _free.items()) > _LARGEST:
            del _free[next(iter(_free))]


def _unlock() -> None:
    """In a child of a fork, the thread that held the lock does not exist."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def clear() -> None:
    """Return the memory to the system: unused blocks at once, lent blocks as soon as they are free."""
    global _free
    with _lock:
        _free.clear()  # what is lent still knows it as its home
        _free = {}
