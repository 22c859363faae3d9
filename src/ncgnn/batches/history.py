"""The couplings of all nodes, as they were when a batch last computed them."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor


class History:
    """Couplings c [N, K, C] of iterations 1 to T - 1; those of iteration 0 are all 1/K.

    They are stored in a file without a name, which is mapped into memory and disappears with the process.
    """

    def __init__(self, num_nodes: int, iterations: int, capsules: int, classes: int, folder: Path) -> None:
        self.couplings = scratch(folder, iterations - 1, num_nodes, capsules, classes)

    def push(self, iteration: int, nodes: np.ndarray, c: Tensor) -> None:
        self.couplings[iteration - 1, torch.from_numpy(nodes)] = c.detach()

    def pull(self, iteration: int, nodes: np.ndarray) -> Tensor:
        return self.couplings[iteration - 1, torch.from_numpy(nodes)]


def scratch(folder: Path, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
    """Zeros in a file that nobody else sees and that the system removes."""
    dtype = dtype or torch.get_default_dtype()
    size = int(np.prod(shape)) * dtype.itemsize
    with tempfile.TemporaryFile(dir=folder) as file:
        file.truncate(max(size, 1))
        array = np.memmap(file, np.uint8, "r+", shape=(max(size, 1),))
    return torch.from_numpy(np.asarray(array))[:size].view(dtype).view(shape)
