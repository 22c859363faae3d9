"""What a training step and a prediction cost, in time and memory, beside models of PyTorch Geometric."""

from ncgnn.bench.contestants import Contestant, enter, measured_models
from ncgnn.bench.graphs import hops_of, measured, random_graph
from ncgnn.bench.memory import measure_memory
from ncgnn.bench.steps import measure_steps
from ncgnn.bench.timing import Timing, interleaved

__all__ = [
    "Contestant",
    "Timing",
    "enter",
    "hops_of",
    "interleaved",
    "measure_memory",
    "measure_steps",
    "measured",
    "measured_models",
    "random_graph",
]
