"""The training loop, for any model and any objective."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import increment_version
from torch_geometric.data import Data

from ncgnn.sparse import pool
from ncgnn.train.epoch import Diverged, Epoch
from ncgnn.train.objectives import Forward, Objective
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
    """

    objective: Objective
    optimizer: torch.optim.Optimizer
    stopping: Stopping
    epochs: int
    remedy: str = "lower lr"


@dataclass(frozen=True)
class Trained:
    """The epoch whose weights the model has now, and all epochs."""

    best: Epoch
    history: list[Epoch] = field(repr=False)


def train(
    model: nn.Module,
    inputs: Sequence[Any],
    split: Data,
    how: Training,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
) -> Trained:
    """Train ``model(*inputs)`` on ``split.train_mask``; ``split.val_mask`` decides when to stop and what to keep."""
    try:
        return _train(model, lambda: model(*inputs), split, how, on_epoch)
    finally:
        pool.clear()


def _train(
    model: nn.Module, forward: Forward, split: Data, how: Training, on_epoch: Callable[[Epoch], None]
) -> Trained:
    history: list[Epoch] = []
    best, best_state = None, model.state_dict()
    for number in range(1, how.epochs + 1):
        train_loss = step(model, forward, split, how)
        epoch = Epoch(number, train_loss, *_validate(model, forward, split, how.objective))
        if not epoch.is_finite:
            raise Diverged(f"training diverged: the loss of epoch {number} is not a number; {how.remedy}")
        history.append(epoch)
        on_epoch(epoch)
        if best is None or how.stopping.keeps(epoch, best):
            best, best_state = epoch, deepcopy(model.state_dict())
        if how.stopping.is_over(history, best):
            break
    assert best is not None  # there is at least one epoch
    model.load_state_dict(best_state)
    model.zero_grad()  # gives the memory of the gradients back
    model.eval()
    return Trained(best, history)


def step(model: nn.Module, forward: Forward, split: Data, how: Training) -> float:
    """One step of the optimiser; the loss before it."""
    model.train()
    how.optimizer.zero_grad()
    loss = how.objective.loss(forward, split)
    loss.backward()
    how.optimizer.step()
    increment_version(list(model.parameters()))  # a fused optimiser changes them without a word
    return loss.item()


@torch.no_grad()
def _validate(model: nn.Module, forward: Forward, split: Data, objective: Objective) -> tuple[float, float]:
    model.eval()
    return objective.validate(forward, split)


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Random numbers from ``seed``; the caller's random state is neither used nor changed."""
    is_cuda = device is not None and device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if is_cuda else []):
        torch.manual_seed(seed)
        yield
