"""Cost of training on this machine: time from a measured step, memory from the sizes of capsules and votes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.batches import stored_rows
from ncgnn.batches.neighbourhood import neighbourhood
from ncgnn.batches.written import SHARD_ROWS
from ncgnn.check.batch import SHARE, TARGETS, TOP_K, in_batches
from ncgnn.check.view import Finding, View
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.data.graph import feature_tensor
from ncgnn.errors import InputError
from ncgnn.memory import available_bytes, check_memory
from ncgnn.models.base.contestant import Contestant, enter
from ncgnn.models.base.memory import COPIES, VALUE
from ncgnn.models.base.model import Sizes
from ncgnn.models.ncgnn import MODEL as NCGNN
from ncgnn.models.ncgnn import VALIDATE_EVERY
from ncgnn.models.ncgnn.config import Config
from ncgnn.models.ncgnn.memory import Numbers, capsule_bytes
from ncgnn.sparse import normalized_adjacency

MOST_NODES = 10_000
_FEWEST = 100  # nodes of a measured graph
_PLACES = 8  # in the graph where rows of the filter are measured
_ROWS = 64  # at least that are measured at each of them, as every call takes a while
_TARGETS = 200  # of the batch whose reading is measured
_EDGE, _NODE, _ENTRY = 40, 100, 60  # bytes to prepare the filter: for edges, nodes and entries of a shard
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
        batches: the same for training in batches; None where that is not possible.
    """

    epoch_seconds: float
    epochs: tuple[int, int]
    megabytes: float
    free_megabytes: float
    measured_nodes: int
    batches: "BatchCost | None" = None

    @property
    def is_in_batches(self) -> bool:
        """Whether ``ncgnn train`` would train in batches."""
        return self.batches is not None and self.megabytes > SHARE * self.free_megabytes


@dataclass(frozen=True)
class BatchCost:
    """Expected time and memory of training in batches.

    Attributes:
        targets: target nodes per batch.
        nodes: nodes whose votes a batch computes.
        filter_seconds: time to compute the rows of the filter.
        epoch_seconds: time of the steps and of its part of a validation.
        megabytes: peak memory beyond libraries and data, with the preparation of the filter.
    """

    targets: int
    nodes: int
    filter_seconds: float
    epoch_seconds: float
    megabytes: float


def expected_cost(view: View, config: Config) -> Cost:
    batched, config = _batches_of(view, config), Config.make(config.model_dump() | {"batch": None})
    sample = _measured(view, config)
    _run(enter(NCGNN.name, _sample(view, _FEWEST), config))  # compiles and loads kernels
    contestant = enter(NCGNN.name, sample, config)
    _run(contestant)  # the first step allocates memory
    seconds = min(_run(contestant), _run(contestant)) * view.num_nodes / sample.num_nodes
    seconds *= _BLOCKS_TAKE if Numbers.of(Sizes.of(view.data), config).is_in_blocks(view.num_nodes) else 1
    epochs = (min(config.patience + 1, config.epochs), config.epochs)
    memory = expected_megabytes(view, config), available_bytes() / 2**20
    batches = None if batched is None else _batch_cost(view, batched, sample)
    return Cost(seconds, epochs, *memory, int(sample.num_nodes), batches)


def _batches_of(view: View, config: Config) -> Config | None:
    """The settings of training in batches, if it is possible."""
    try:
        return in_batches(config, view.data, config.batch or TARGETS, "")[0]
    except InputError:
        return None


def _batch_cost(view: View, config: Config, sample: Data) -> BatchCost:
    """From some rows of the filter, from steps and predictions on a graph that is as large as a batch at most, and from
    reading a batch of this graph."""
    assert config.batch is not None
    data = view.data
    train, val = (int(data[key].sum()) if view.is_split else 0 for key in ("train_mask", "val_mask"))
    targets = min(config.batch, train or view.num_nodes)
    seconds, nodes = _rows_of_a_batch(view, config, targets)
    contestant = enter(NCGNN.name, sample, Config.make(config.model_dump() | {"batch": None}))
    _run(contestant)
    step, predict = (min(_seconds(part), _seconds(part)) for part in (contestant.step, contestant.predict))
    step, predict = step / int(sample.num_nodes), predict / int(sample.num_nodes)
    read = _reading_a_node(config, sample)
    epoch = nodes / targets * ((train or view.num_nodes) * (step + read) + val / VALIDATE_EVERY * (predict + read))
    memory = max(
        preparation_bytes(view.num_nodes, view.adjacency.nnz, config), batch_bytes(Sizes.of(data), nodes, config)
    )
    return BatchCost(targets, nodes, seconds, epoch, memory / 2**20)


def _rows_of_a_batch(view: View, config: Config, targets: int) -> tuple[float, int]:
    """Time to compute the rows of all nodes, and the number of nodes in a batch."""
    data = view.data
    start = perf_counter()
    a = normalized_adjacency(data.edge_index, view.num_nodes, data.get("edge_weight"))
    rows, once = config.make_filter().rows(a), perf_counter() - start
    rows(range(1))  # compiles
    reached: list[np.ndarray] = []
    taken, computed = 0.0, 0
    firsts = np.linspace(0, view.num_nodes, min(_PLACES, targets), endpoint=False).astype(int)
    for first in firsts:  # nodes that are listed together may be near each other
        count = -(-targets // len(firsts))
        part = range(first, min(first + max(count, _ROWS), view.num_nodes))
        start = perf_counter()
        matrices = rows(part)
        taken, computed = taken + perf_counter() - start, computed + len(part)
        near = [matrix.indices[: matrix.indptr[min(count, len(part))]] for matrix in matrices]
        reached = [np.unique(np.concatenate([*reached, *near, np.array(part[:count])]))]
    return once + taken / computed * view.num_nodes, len(reached[0])


def _reading_a_node(config: Config, sample: Data) -> float:
    """Time to read the graph of a batch, for each of its nodes."""
    filter, nodes = config.make_filter(), int(sample.num_nodes)
    with TemporaryDirectory() as folder:
        a = normalized_adjacency(sample.edge_index, nodes, None, filter.has_loops)
        rows = [stored_rows(filter, lambda: a, nodes, Path(folder) / "rows", "")]
        targets = np.arange(0, nodes, -(-nodes // _TARGETS))
        neighbourhood(rows, targets, "local", 1)  # opens the files
        start = perf_counter()
        found = neighbourhood(rows, targets, "local", 1)
        return (perf_counter() - start) / len(found.nodes)


def preparation_bytes(nodes: int, edges: int, config: Config) -> float:
    """Memory to prepare the rows of the filter; ``edges`` are counted in both directions."""
    entries = min(SHARD_ROWS, nodes) * (config.top_k or TOP_K) * len(config.hop_set)
    return float(_EDGE * edges + _NODE * nodes + _ENTRY * entries)


def batch_bytes(sizes: Sizes, nodes: int, config: Config) -> float:
    """Memory to train on a batch of so many nodes."""
    capsules = capsule_bytes(sizes._replace(nodes=nodes), nodes * (config.top_k or TOP_K), config, COPIES)
    return capsules + VALUE * nodes * sizes.features


def expected_megabytes(view: View, config: Config) -> float:
    """Estimated peak memory, within 20 % of the measurements in docs/performance.md."""
    return NCGNN.memory(view.data, config) / 2**20


def _run(contestant: Contestant) -> float:
    return _seconds(contestant.step) + _seconds(contestant.predict)


def _seconds(part: Callable[[], object]) -> float:
    start = perf_counter()
    part()
    return perf_counter() - start


def _measured(view: View, config: Config) -> Data:
    """The graph or one like it, so small that training on it takes half of the free memory at most."""
    sample = view.data if view.num_nodes <= MOST_NODES and view.is_split else _sample(view, MOST_NODES)
    while int(sample.num_nodes) > _FEWEST and 2 * NCGNN.memory(sample, config) > available_bytes():
        sample = _sample(view, max(_FEWEST, int(sample.num_nodes) // 2))
    what = f"training NCGNN on {sample.num_nodes} nodes, to tell how long it takes,"
    check_memory(NCGNN.memory(sample, config), what, "use fewer or smaller capsules", *NCGNN.sized_by)
    return sample


def _sample(view: View, most: int) -> Data:
    nodes = min(view.num_nodes, most)
    degree = view.adjacency.nnz / view.num_nodes
    sample = random_graph(nodes, degree, num_features=1, num_classes=max(2, len(view.data.class_names)))
    x = feature_tensor(view.x[:nodes])
    sample.x = x.to_dense() if view.data.x.layout is torch.strided else x.to_sparse_csr()
    sample.train_mask[0] = True
    return sample


def cost_findings(cost: Cost) -> list[Finding]:
    least = cost.megabytes if cost.batches is None else min(cost.megabytes, cost.batches.megabytes)
    if not least > cost.free_megabytes:
        return []
    return [
        Finding(
            name="memory",
            level="serious",
            what=f"training needs about {least:.0f} MB, but only {cost.free_megabytes:.0f} MB are free",
            count=0,
            first=[],
            why="the system would swap or kill the process",
            advice="use fewer or smaller capsules",
            options=["num_capsules", "primary_channels"],
        )
    ]
