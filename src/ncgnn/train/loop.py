"""The training loop for any model and objective."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import increment_version
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch_geometric.data import Data

from ncgnn.sparse import pool
from ncgnn.train.checkpoint import next_checkpoint
from ncgnn.train.epoch import Diverged, Epoch
from ncgnn.train.inputs import Inputs
from ncgnn.train.objectives import Forward, Objective
from ncgnn.train.processes import agreed, original, rank, replicated
from ncgnn.train.reproducible import random_state, set_random_state
from ncgnn.train.stopping import Stopping


@dataclass(frozen=True)
class Training:
    """How a model is trained.

    Attributes:
        objective: what is minimised.
        optimizer: of the model's parameters.
        stopping: when to stop, and which weights to keep.
        epochs: the maximum number of epochs.
        remedy: what to do when training diverges, for the error message.
        averaging: decay of the moving average of the weights that is validated and kept; 0 for the weights themselves.
        validate_every: epochs from one validation to the next; only those that are validated are kept and reported.
    """

    objective: Objective
    optimizer: torch.optim.Optimizer
    stopping: Stopping
    epochs: int
    remedy: str = "lower lr"
    averaging: float = 0.0
    validate_every: int = 1


@dataclass(frozen=True)
class Trained:
    """The epoch whose weights were kept, and all epochs that were validated."""

    best: Epoch
    history: list[Epoch] = field(repr=False)


def train(
    module: nn.Module,
    inputs: Inputs,
    split: Data,
    how: Training,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    first: int = 1,
) -> Trained:
    """Train on ``split.train_mask``; ``split.val_mask`` decides when to stop and which weights to keep.
    Epochs are numbered from ``first``."""
    try:
        return _train(module, inputs, split, how, on_epoch, first)
    finally:
        pool.clear()


def _train(
    module: nn.Module,
    inputs: Inputs,
    split: Data,
    how: Training,
    on_epoch: Callable[[Epoch], None],
    first: int,
) -> Trained:
    replica = replicated(module)
    checkpoint, now = next_checkpoint(), _Progress(module, inputs, how)
    found = None if checkpoint is None else checkpoint.read()
    if checkpoint is not None and found is not None:
        now.restore(found)
        if not now.is_over:
            checkpoint.run.on_continue(now.history[-1].epoch)
        for epoch in now.history:
            on_epoch(epoch)
    while not now.is_over:
        for number in now.next_epochs(first):
            train_loss = _pass(replica, inputs, split, how, number, now.averaged)
        epoch = agreed(Epoch(number, train_loss, *_validate(now.judged, inputs, split, how.objective)))
        if not epoch.is_finite:
            raise Diverged(f"training diverged: the loss of epoch {number} is not a number; {how.remedy}")
        now.add(epoch)
        on_epoch(epoch)
        if checkpoint is not None and (checkpoint.is_worth_it() if now.is_over else checkpoint.is_due()):
            checkpoint.write(now.state())
    module.load_state_dict(now.best_state)
    module.zero_grad()  # frees the memory of the gradients
    module.eval()
    assert now.best is not None  # there is at least one epoch
    return Trained(now.best, now.history)


class _Progress:
    """How far a training is: all that the epochs to come depend on."""

    def __init__(self, module: nn.Module, inputs: Inputs, how: Training) -> None:
        self.module, self.inputs, self.how = module, inputs, how
        averaging = get_ema_multi_avg_fn(how.averaging) if how.averaging else None
        self.averaged = None if averaging is None else AveragedModel(module, multi_avg_fn=averaging)
        self.history: list[Epoch] = []
        self.best: Epoch | None = None
        self.best_state = module.state_dict()
        self._trained = 0

    def next_epochs(self, first: int) -> range:
        """The epochs until the next validation, numbered from ``first`` at the beginning."""
        start = self._trained
        self._trained = min(start + self.how.validate_every, self.how.epochs)
        return range(first + start, first + self._trained)

    @property
    def judged(self) -> nn.Module:
        """The module that is validated and kept."""
        return self.module if self.averaged is None else self.averaged.module

    @property
    def is_over(self) -> bool:
        ended = self.best is not None and self.how.stopping.is_over(self.history, self.best)
        return ended or self._trained == self.how.epochs

    def add(self, epoch: Epoch) -> None:
        self.history.append(epoch)
        if self.best is None or self.how.stopping.keeps(epoch, self.best):
            self.best, self.best_state = epoch, deepcopy(self.judged.state_dict())

    def state(self) -> dict[str, Any]:
        """For a checkpoint; at the end, without the state of the inputs."""
        assert self.best is not None
        return {
            "history": [tuple(epoch) for epoch in self.history],
            "trained": self._trained,
            "best": tuple(self.best),
            "best_state": self.best_state,
            "module": self.module.state_dict(),
            "averaged": None if self.averaged is None else self.averaged.state_dict(),
            "optimizer": self.how.optimizer.state_dict(),
            "inputs": {} if self.is_over else self.inputs.state(self.module),
            "random": random_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.history = [Epoch(*values) for values in state["history"]]
        self._trained = state["trained"]
        self.best, self.best_state = Epoch(*state["best"]), state["best_state"]
        self.module.load_state_dict(state["module"])
        if self.averaged is not None:
            self.averaged.load_state_dict(state["averaged"])
        self.how.optimizer.load_state_dict(state["optimizer"])
        self.inputs.restore(self.module, state["inputs"])
        if rank() == 0:  # the others have random numbers of their own
            set_random_state(state["random"])


def _pass(
    module: nn.Module, inputs: Inputs, split: Data, how: Training, number: int, averaged: AveragedModel | None
) -> float:
    """The steps of one epoch; returns the mean loss of its nodes."""
    total, count = 0.0, 0
    for batch, its_split in inputs.batches(number, split, how.objective.nodes(split)):
        nodes = int(how.objective.nodes(its_split).sum())
        total, count = total + nodes * step(module, batch, its_split, how), count + nodes
        if averaged is not None:
            averaged.update_parameters(original(module))
    return total / count


def step(module: nn.Module, inputs: Inputs, split: Data, how: Training) -> float:
    """Take one optimiser step and return the loss before it."""
    module.train()
    how.optimizer.zero_grad()
    loss = how.objective.loss(_forward(module), inputs, split)
    loss.backward()
    how.optimizer.step()
    increment_version(list(module.parameters()))  # fused optimisers do not bump the version counter
    return loss.item()


@torch.no_grad()
def class_scores(module: nn.Module, inputs: Inputs) -> Tensor:
    """Scores of all nodes [N, C], without dropout."""
    return _forward(module.eval())(inputs)


@torch.no_grad()
def _validate(module: nn.Module, inputs: Inputs, split: Data, objective: Objective) -> tuple[float, float]:
    return objective.validate(_forward(module.eval()), *inputs.only(split, split.val_mask))


def _forward(module: nn.Module) -> Forward:
    return lambda inputs: inputs.scores(module)
