"""What a training step and a prediction cost, in time and memory, beside models of PyTorch Geometric."""

from ncgnn.bench.contestants import MODELS, Contestant, enter
from ncgnn.bench.graphs import hops_of, measured, random_graph
from ncgnn.bench.memory import measure_memory
from ncgnn.bench.steps import measure_steps
from ncgnn.bench.timing import Timing, interleaved
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

__all__ = [
    "MODELS",
    "Contestant",
    "Timing",
    "enter",
    "hops_of",
    "interleaved",
    "machine",
    "measure_memory",
    "measure_steps",
    "measured",
    "random_graph",
    "use_threads",
]
