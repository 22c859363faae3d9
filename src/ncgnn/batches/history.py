"""The couplings of all nodes, as they were when a batch last computed them."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ncgnn.batches.scratch import scratch


class History:
    """Couplings c [N, K, C] of iterations 1 to T - 1; those of iteration 0 are all 1/K.

    They are stored in a file; see :func:`~ncgnn.batches.scratch.scratch`.
    """

    def __init__(self, num_nodes: int, iterations: int, capsules: int, classes: int, folder: Path) -> None:
        self.couplings = scratch(folder, iterations - 1, num_nodes, capsules, classes)

    def push(self, iteration: int, nodes: np.ndarray, c: Tensor) -> None:
        self.couplings[iteration - 1, torch.from_numpy(nodes)] = c.detach()

    def pull(self, iteration: int, nodes: np.ndarray) -> Tensor:
        return self.couplings[iteration - 1, torch.from_numpy(nodes)]
