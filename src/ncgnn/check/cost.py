"""Cost of training on this machine: time from a measured step, memory from the sizes of capsules and votes."""

from dataclasses import dataclass
from time import perf_counter

import torch
from torch_geometric.data import Data

from ncgnn.check.view import Finding, View
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.data.graph import feature_tensor
from ncgnn.memory import available_bytes
from ncgnn.models.base.contestant import Contestant, enter
from ncgnn.models.base.model import Sizes
from ncgnn.models.ncgnn import MODEL as NCGNN
from ncgnn.models.ncgnn.config import Config
from ncgnn.models.ncgnn.memory import Numbers

MOST_NODES = 10_000
_BLOCKS_TAKE = 1.35  # times as long, as votes in blocks are computed again in every pass (measured)


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
    seconds *= _BLOCKS_TAKE if Numbers.of(Sizes.of(view.data), config).is_in_blocks(view.num_nodes) else 1
    epochs = (min(config.patience + 1, config.epochs), config.epochs)
    return Cost(seconds, epochs, expected_megabytes(view, config), available_bytes() / 2**20, int(sample.num_nodes))


def expected_megabytes(view: View, config: Config) -> float:
    """Estimated peak memory, within 20 % of the measurements in docs/performance.md."""
    return NCGNN.memory(view.data, config) / 2**20


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
