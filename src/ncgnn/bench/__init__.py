"""What a training step and a prediction cost, in time and memory, beside other models."""

from ncgnn.bench.memory import measure_memory
from ncgnn.bench.steps import hops_of, measure_steps, measured
from ncgnn.bench.timing import Timing, interleaved
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.models.base.contestant import Contestant, enter, measured_models

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
