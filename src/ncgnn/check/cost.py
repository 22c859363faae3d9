"""Cost of training on this machine: time from a measured step, memory from the sizes of capsules and votes."""

from dataclasses import dataclass
from itertools import pairwise
from math import nan
from pathlib import Path
from time import perf_counter

import torch
from torch_geometric.data import Data

from ncgnn.check.view import Finding, View
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.data.graph import feature_tensor
from ncgnn.models.base.contestant import Contestant, enter
from ncgnn.models.ncgnn import MODEL as NCGNN
from ncgnn.models.ncgnn.config import Config
from ncgnn.nn.model import MOST_BYTES

MOST_NODES = 10_000
_COPIES = 4  # of weights: with gradient and Adam's moments
_BLOCKS_TAKE = 1.35  # times as long, as votes in blocks are computed again in every pass (measured)
_BLOCK = 1 << 24  # numbers of a few blocks
_ENTRY_BYTES = 24  # of a filter: a value and a column index, in the matrix and its transpose


@dataclass(frozen=True)
class Cost:
    """Expected time and memory of training.

    Attributes:
        epoch_seconds: time of a step and a validation.
        epochs: minimum and maximum: training ends ``patience`` epochs after the best.
        megabytes: peak memory beyond libraries and data, without the preparation of the filter.
        free_megabytes: available memory, nan if unknown.
        measured_nodes: size of the measured graph. For a large graph, or one without a split, a smaller random graph
            with the same mean degree and feature rows is measured instead, and its time is scaled up.
    """

    epoch_seconds: float
    epochs: tuple[int, int]
    megabytes: float
    free_megabytes: float
    measured_nodes: int


def expected_cost(view: View, config: Config) -> Cost:
    sample = view.data if view.num_nodes <= MOST_NODES and view.is_split else _sample(view, MOST_NODES)
    _run(enter(NCGNN.name, _sample(view, 100), config))  # compiles and loads kernels
    contestant = enter(NCGNN.name, sample, config)
    _run(contestant)  # the first step allocates memory
    seconds = min(_run(contestant), _run(contestant)) * view.num_nodes / sample.num_nodes
    seconds *= _BLOCKS_TAKE if _Sizes.of(view, config).is_in_blocks(view.num_nodes) else 1
    epochs = (min(config.patience + 1, config.epochs), config.epochs)
    return Cost(seconds, epochs, expected_megabytes(view, config), free_megabytes(), int(sample.num_nodes))


def expected_megabytes(view: View, config: Config) -> float:
    """Estimated peak memory, within 20 % of the measurements in docs/performance.md."""
    sizes = _Sizes.of(view, config)
    in_blocks = sizes.is_in_blocks(view.num_nodes)
    a_node = sizes.of_a_node_in_blocks if in_blocks else sizes.of_a_node
    entries = view.adjacency.nnz if config.top_k is None else view.num_nodes * config.top_k
    numbers = view.num_nodes * a_node + _COPIES * sizes.weights + (_BLOCK if in_blocks else 0)
    return float(4 * numbers + _ENTRY_BYTES * entries) / 2**20


@dataclass(frozen=True)
class _Sizes:
    """How many numbers training holds: of a node, its capsules, votes, couplings and class capsules; all weights."""

    iterations: int
    capsules: int
    votes: int
    couplings: int
    classes: int
    weights: int
    may_split: bool

    @classmethod
    def of(cls, view: View, config: Config) -> "_Sizes":
        own = [config.num_capsules, *(group.num_capsules for group in config.groups if group.reads != "beliefs")]
        classes = len(view.data.class_names), config.class_channels
        layers = [(sum(own), config.primary_channels), *config.hidden, classes]
        votes = [before[0] * after[0] * after[1] for before, after in pairwise(layers)]
        weights = view.x.shape[1] * sum(own) * config.primary_channels
        weights += sum(before[1] * size for before, size in zip(layers, votes, strict=False))
        couplings = sum(before[0] * after[0] for before, after in pairwise(layers))
        capsules = sum(own) * config.primary_channels
        outputs = sum(count * size for count, size in layers[1:])
        return cls(config.iterations, capsules, sum(votes), couplings, outputs, weights, not config.hidden)

    def is_in_blocks(self, nodes: int) -> bool:
        return self.may_split and 4 * nodes * self.votes > MOST_BYTES

    @property
    def of_a_node(self) -> int:
        """Votes and capsules with their gradients; of each iteration couplings, messages and outputs with theirs; and
        what arrives through the filter, hop by hop."""
        of_iterations = self.iterations * (2 * self.couplings + 3 * self.classes)
        return 2 * (self.votes + self.capsules) + of_iterations + 8 * self.classes

    @property
    def of_a_node_in_blocks(self) -> int:
        """Without votes and capsules, with messages that their gradients replace."""
        return (2 * self.iterations + 5) * self.classes + (2 * self.iterations - 1) * self.couplings


def _run(contestant: Contestant) -> float:
    start = perf_counter()
    contestant.step()
    contestant.predict()
    return perf_counter() - start


def _sample(view: View, most: int) -> Data:
    nodes = min(view.num_nodes, most)
    degree = view.adjacency.nnz / view.num_nodes
    sample = random_graph(nodes, degree, num_features=1, num_classes=max(2, len(view.data.class_names)))
    x = feature_tensor(view.x[:nodes])
    sample.x = x.to_dense() if view.data.x.layout is torch.strided else x.to_sparse_csr()
    sample.train_mask[0] = True
    return sample


def free_megabytes() -> float:
    """Memory available to a process, including reclaimable file caches."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return nan


def cost_findings(cost: Cost) -> list[Finding]:
    if not cost.megabytes > cost.free_megabytes:
        return []
    return [
        Finding(
            name="memory",
            level="serious",
            what=f"training needs about {cost.megabytes:.0f} MB, but only {cost.free_megabytes:.0f} MB are free",
            count=0,
            first=[],
            why="the system would swap or kill the process",
            advice="use fewer or smaller capsules",
            options=["num_capsules", "primary_channels"],
        )
    ]
