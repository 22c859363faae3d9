"""The training loop for any model and objective."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.autograd.graph import increment_version
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch_geometric.data import Data

from ncgnn.sparse import pool
from ncgnn.train.epoch import Diverged, Epoch
from ncgnn.train.inputs import Inputs
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
        averaging: decay of the moving average of the weights that is validated and kept; 0 for the weights themselves.
    """

    objective: Objective
    optimizer: torch.optim.Optimizer
    stopping: Stopping
    epochs: int
    remedy: str = "lower lr"
    averaging: float = 0.0


@dataclass(frozen=True)
class Trained:
    """The epoch whose weights were kept, and all epochs."""

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
    history: list[Epoch] = []
    averaged = AveragedModel(module, multi_avg_fn=get_ema_multi_avg_fn(how.averaging)) if how.averaging else None
    judged = module if averaged is None else averaged.module
    best, best_state = None, module.state_dict()
    for number in range(first, first + how.epochs):
        train_loss = _pass(module, inputs, split, how, number, averaged)
        epoch = Epoch(number, train_loss, *_validate(judged, inputs, split, how.objective))
        if not epoch.is_finite:
            raise Diverged(f"training diverged: the loss of epoch {number} is not a number; {how.remedy}")
        history.append(epoch)
        on_epoch(epoch)
        if best is None or how.stopping.keeps(epoch, best):
            best, best_state = epoch, deepcopy(judged.state_dict())
        if how.stopping.is_over(history, best):
            break
    assert best is not None  # there is at least one epoch
    module.load_state_dict(best_state)
    module.zero_grad()  # frees the memory of the gradients
    module.eval()
    return Trained(best, history)


def _pass(
    module: nn.Module, inputs: Inputs, split: Data, how: Training, number: int, averaged: AveragedModel | None
) -> float:
    """The steps of one epoch; returns the mean loss of its nodes."""
    total, count = 0.0, 0
    for batch, its_split in inputs.batches(number, split, how.objective.nodes(split)):
        nodes = int(how.objective.nodes(its_split).sum())
        total, count = total + nodes * step(module, batch, its_split, how), count + nodes
        if averaged is not None:
            averaged.update_parameters(module)
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
