"""Profile of a step and of a prediction: time per compiled kernel and of the dense products."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch
from torch_geometric.data import Data

from benchmarks.table import Row
from ncgnn.bench import enter
from ncgnn.models.ncgnn.config import Config
from ncgnn.nn.kernels import capsules, routing
from ncgnn.sparse import kernels

GRAPHS = ("cora", "pubmed", "amazon-computers")
WHOLE, REST = "whole", "everything else"
_MODULES = (capsules, routing, kernels)


def measure(data: Data, config: Config, repeats: int, tell: Callable[[str], None]) -> list[Row]:
    """Milliseconds of each stage, the mean of ``repeats`` executions after as many to warm up."""
    contestant = enter("ncgnn", data, config)
    rows: list[Row] = []
    for task in ("step", "predict"):
        tell(f"{data.name}: profile of {task}")
        for _ in range(repeats):
            getattr(contestant, task)()
        rows += [{"graph": data.name, "task": task} | row for row in _stages(getattr(contestant, task), repeats)]
    return rows


def _stages(task: Callable[[], object], repeats: int) -> list[Row]:
    with recorded() as spent:
        start = perf_counter()
        for _ in range(repeats):
            task()
        whole = perf_counter() - start
    spent = dict(sorted(spent.items(), key=lambda item: -item[1]))
    named = spent | {REST: whole - sum(spent.values()), WHOLE: whole}
    return [{"stage": stage, "ms": round(1000 * seconds / repeats, 3)} for stage, seconds in named.items()]


@contextmanager
def recorded() -> Iterator[dict[str, float]]:
    """The seconds that each kernel takes until the block ends."""
    spent: dict[str, float] = defaultdict(float)
    patches = [_timed(module, name, spent) for module in _MODULES for name in _kernels(module)]
    patches.append(_timed(torch, "mm", spent))
    for entry in patches:
        entry.start()
    try:
        yield spent
    finally:
        for entry in patches:
            entry.stop()


def _kernels(module: ModuleType) -> list[str]:
    """The functions of a module that were made by ``by_rows``."""
    maker = kernels.by_rows.__qualname__
    return [name for name, value in vars(module).items() if _made_by(value).startswith(f"{maker}.<locals>")]


def _made_by(value: Any) -> str:
    code = getattr(value, "__code__", None)
    return code.co_qualname if code is not None else ""


def _timed(module: ModuleType, name: str, spent: dict[str, float]) -> Any:
    function = getattr(module, name)
    stage = "dense products" if name == "mm" else name.strip("_").replace("_", " ")

    def run(*arguments: Any, **options: Any) -> Any:
        start = perf_counter()
        result = function(*arguments, **options)
        spent[stage] += perf_counter() - start
        return result

    return patch.object(module, name, run)
