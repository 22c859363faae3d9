"""Memory for large intermediate results, used again by the next step.

The system's allocator gives large blocks back to the kernel at once, and the kernel clears them anew, page by page,
for the next step: on a graph of ten thousand nodes that costs more than computing what is written into them.
"""

import weakref
from collections import defaultdict
from math import prod

import numpy as np
import torch
from torch import Tensor

_SMALLEST = 1 << 20  # bytes; below, the allocator reuses memory by itself
_ALIGNMENT = 64

_free: defaultdict[int, list[np.ndarray]] = defaultdict(list)


def empty(like: Tensor, *shape: int) -> Tensor:
    """A tensor with unset values; its memory comes back when the last tensor that shares it is gone."""
    size = prod(shape) * like.element_size()
    if like.device.type != "cpu" or size < _SMALLEST:
        return like.new_empty(shape)
    block = _free[size].pop() if _free[size] else np.empty(size + _ALIGNMENT, np.uint8)
    start = -block.ctypes.data % _ALIGNMENT
    loan = block[start : start + size]
    weakref.finalize(loan, _free[size].append, block)
    return torch.from_numpy(loan).view(like.dtype).view(shape)


def clear() -> None:
    """Give the unused memory back to the system."""
    _free.clear()
