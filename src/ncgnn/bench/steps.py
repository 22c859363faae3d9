"""A training step and a prediction pass of each model on one graph, and the settings of NCGNN that are measured."""

from collections.abc import Callable, Sequence
from typing import Any

from torch_geometric.data import Data

from ncgnn.bench.timing import interleaved
from ncgnn.data.generated.unstructured import GENERATED
from ncgnn.data.graph import num_classes
from ncgnn.data.named.registry import FAR, NEAREST, find_info
from ncgnn.models import find_model
from ncgnn.models.base.contestant import enter
from ncgnn.models.ncgnn.config import Config

TASKS = ("step", "predict")
_PAPER = {"num_capsules": 8, "primary_channels": 64, "iterations": 3, "beta": 1.0, "dropout": 0.9}


def measure_steps(
    data: Data,
    models: Sequence[str],
    config: Config,
    repeats: int,
    tell: Callable[[str], None] = lambda text: None,
    seconds: float = 1e9,
) -> list[dict[str, Any]]:
    """One row for each model and task; the models take turns."""
    entered = {find_model(model).title: enter(model, data, config) for model in models}
    tasks = {(title, task): getattr(contestant, task) for title, contestant in entered.items() for task in TASKS}
    timings = interleaved(tasks, repeats, lambda text: tell(f"{data.name}: {text}"), seconds)
    return [describe(data) | {"model": title, "task": task} | timing.row() for (title, task), timing in timings.items()]


def describe(data: Data) -> dict[str, Any]:
    """The columns that say what graph it was."""
    return {
        "graph": data.name,
        "nodes": data.num_nodes,
        "edges": data.edge_index.shape[1] // 2,
        "features": data.x.shape[1],
        "classes": num_classes(data),
    }


def hops_of(name: str) -> int:
    """The attention filter takes the hops from 1 to this; fewer on the graphs that are larger or denser."""
    if name == GENERATED:
        return NEAREST
    info = find_info(name)
    return FAR if info is None else info.measured_hops


def measured(hops: int, **others: int) -> Config:
    """The settings that are measured, which are the paper's, whatever the defaults are."""
    return Config.make(_PAPER | {"hops": hops} | others)
