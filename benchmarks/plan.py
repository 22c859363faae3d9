"""What large graphs would take, on paper: sizes from the shapes of what is stored, times from measured constants.

The constants are of one thread: time of training for each node of a batch, from ``results/scale/in-batches.csv``, of
prediction and of explanation for each node of the graph, from ``results/scale/streams.csv``. Training and prediction
grow with the numbers of a node's votes, K C f_c.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.table import Row
from ncgnn.check.cost import batch_bytes, preparation_bytes
from ncgnn.models import Sizes
from ncgnn.models.base.memory import VALUE
from ncgnn.models.ncgnn import Config

SETTINGS = Config.make({"hops": [0, 1, 2], "top_k": 16})
BATCH, EPOCHS = 512, 100
ROW = 1e-3  # seconds for the rows of a node at most: farther hops are left out
_UNITS = (("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12))
CLASSES = 10  # of the graphs that are measured


class Graph(NamedTuple):
    """A graph that is not there; ``edges`` are undirected, ``train`` and ``val`` numbers of nodes."""

    name: str
    nodes: int
    edges: int
    features: int
    classes: int
    train: int
    val: int


GRAPHS = (
    Graph("ogbn-products", 2_449_029, 61_859_140, 100, 47, 196_615, 39_323),
    Graph("10^8 nodes", 10**8, 10**9, 128, 20, 500_000, 500_000),
)


@dataclass(frozen=True)
class Constants:
    """Seconds of one thread, for ten classes and the default capsules: of a step for a node of a batch, and of
    prediction and explanation for a node of the graph."""

    step: float
    predict: float
    explain: float

    def __str__(self) -> str:
        step, predict, explain = (f"{1e6 * seconds:.0f} µs" for seconds in (self.step, self.predict, self.explain))
        return (
            f"{step} for training, per node of a batch; {predict} for predicting a node and {explain} for explaining it"
        )


def constants(batches: list[Row], streams: list[Row]) -> Constants | None:
    """Of the largest graphs that were measured; None if too few were."""
    batches = [row for row in batches if row.get("batch_nodes")]
    if not batches or any(sum(row["command"] == name for row in streams) < 2 for name in ("predict", "explain")):
        return None
    one = max(batches, key=lambda row: row["nodes"])
    found = {}
    for command in ("predict", "explain"):
        rows = sorted((row for row in streams if row["command"] == command), key=lambda row: row["nodes"])
        some, more = rows[-2:]
        found[command] = (more["cpu_s"] - some["cpu_s"]) / (more["nodes"] - some["nodes"])
    return Constants(one["measured_epoch_cpu_s"] / (2 * one["batch_nodes"]), **found)


def plan(graph: Graph, of: Constants) -> Iterator[tuple[str, str]]:
    """What it takes, line by line."""
    config, sizes = SETTINGS, Sizes(nodes=graph.nodes, features=graph.features, classes=graph.classes)
    entries = 1 + sum(min(config.top_k or 0, graph.nodes) for hop in config.hop_set if hop)
    capsules = graph.classes * config.class_channels
    couplings = config.num_capsules * graph.classes
    weights = graph.features * config.num_capsules * config.primary_channels
    weights += config.num_capsules * config.primary_channels * capsules
    batch = BATCH * entries
    slower = graph.classes / CLASSES  # votes a node
    step = batch * of.step * slower
    steps, validations = -(-graph.train // BATCH), -(-graph.val // BATCH)
    yield "disk: edges and features", _bytes(graph.nodes * VALUE * graph.features + 2 * graph.edges * 2 * 8)
    yield "disk: filter rows", _bytes(graph.nodes * (entries * (4 + VALUE * len(config.hop_set)) + 8))
    yield "disk, temporary: prediction, for each process", _bytes(graph.nodes * VALUE * (2 * capsules + couplings))
    yield "disk, temporary: explanation, beyond this", _bytes(graph.nodes * VALUE * (capsules + couplings))
    yield "memory: preparing the filter", _bytes(preparation_bytes(graph.nodes, 2 * graph.edges, config))
    yield f"memory: a batch, {BATCH} targets and their neighbours", _bytes(batch_bytes(sizes, batch, config))
    yield "memory not to wait for the disk in prediction", _bytes(graph.nodes * VALUE * capsules)
    yield "network: gradients of a step, to and from each process", _bytes(2 * VALUE * weights)
    yield "network: prediction, to each process", _bytes(config.iterations * graph.nodes * VALUE * capsules)
    yield "core hours: filter rows, at most", _hours(graph.nodes * ROW)
    yield f"core hours: training, {EPOCHS} epochs", _hours(EPOCHS * step * (steps + validations))
    yield "core hours: prediction of all nodes", _hours(graph.nodes * of.predict * slower)
    yield "core hours: explanation of all nodes", _hours(graph.nodes * of.explain * slower)


def _bytes(count: float) -> str:
    unit, size = next((unit, size) for unit, size in _UNITS if count < 1000 * size)
    return f"{count / size:.2g} {unit}" if count < 10 * size else f"{count / size:.0f} {unit}"


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.2g}" if hours < 10 else f"{hours:.0f}"
