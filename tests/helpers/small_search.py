"""Searches that take a moment: a small model on the karate club, and a model that plays back what it is told."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch

from ncgnn.data import load_dataset, split_per_class
from ncgnn.models import Model, RunSettings
from ncgnn.models.base.model import OnEpoch
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.train import Diverged, Epoch
from ncgnn.tune.search import Search
from ncgnn.tune.tunable import Tunable, hidden_splits


@dataclass(frozen=True)
class Small(Tunable):
    """Two settings to search of a model that trains in a blink."""

    model: Model[Any] = MODEL
    graph: str = "karate"
    variant: str = "attention"

    def settings(self, trial: Any) -> Config:
        searched = {"lr": trial.suggest_float("lr", 1e-3, 0.1, log=True), "dropout": trial.suggest_float("p", 0, 0.5)}
        return Config(hops=2, num_capsules=2, primary_channels=4, class_channels=2, epochs=8, **searched)

    def points(self) -> list[dict[str, Any]]:
        return [{"lr": 0.01, "p": 0.5}]


@dataclass(frozen=True)
class Sociable(Small):
    """Its first run in a process lasts until two processes have begun one."""

    folder: Path = Path()

    def accuracies(self, splits: Sequence[Any], settings: RunSettings, watch: OnEpoch) -> Iterator[float]:
        (self.folder / f"{os.getpid()}.here").touch()
        end = time.monotonic() + 120
        while len(list(self.folder.glob("*.here"))) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        return super().accuracies(splits, settings, watch)


class Choice(RunSettings):
    """Settings of the model that plays back."""

    identity: ClassVar[str] = "scripted"

    lr: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Scripted:
    """Its runs have the accuracies that ``script`` gives for its settings, epoch by epoch; none of them diverges."""

    script: Callable[[Choice], Sequence[float]]
    queue: list[float] = field(default_factory=list)
    kind: str = "scripted"

    def settings(self, trial: Any) -> Choice:
        return Choice(lr=trial.suggest_float("lr", 0, 1))

    def points(self) -> list[dict[str, Any]]:
        return [{"lr": lr} for lr in self.queue]

    def accuracies(self, splits: Sequence[Any], settings: Choice, watch: OnEpoch) -> Iterator[float]:
        for _ in splits:
            values = self.script(settings)
            for number, value in enumerate(values, 1):
                watch(Epoch(number, 0.0, 0.0, value))
            yield max(values)


def diverges(settings: Choice) -> Sequence[float]:
    raise Diverged("training diverged: the loss of epoch 1 is not a number; lower lr or beta")


def karate_with_splits(number: int = 2) -> Any:
    """The karate club with published splits."""
    data = load_dataset("karate")
    splits = [split_per_class(data, train=2, val=8, seed=seed) for seed in range(number)]
    for key in ("train_mask", "val_mask", "test_mask"):
        data[key] = torch.stack([split[key] for split in splits], dim=1)
    return data


def make_search(folder: Path, tunable: Any = None, data: Any = None, splits: int = 2, **options: Any) -> Search:
    graph = karate_with_splits() if data is None else data
    defaults = {"url": f"sqlite:///{folder}/study.db", "lock": folder / "study.lock", "trials": 4}
    return Search(tunable or Small(), [hidden_splits(graph, splits)], "study", **defaults | options)
