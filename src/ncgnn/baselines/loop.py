"""Training of any model with class scores: by cross-entropy, stopped by validation."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.baselines.settings import Settings
from ncgnn.train.run import Epoch, accuracy, check_finite


def train(
    model: nn.Module,
    inputs: Sequence[Any],
    data: Data,
    optimizer: torch.optim.Optimizer,
    settings: Settings,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
) -> tuple[Epoch, list[Epoch]]:
    """Train ``model(*inputs)`` by the rule of the settings; the epoch whose weights it has now, and all epochs."""
    history: list[Epoch] = []
    best, best_state = None, model.state_dict()
    for number in range(1, settings.epochs + 1):
        epoch = Epoch(number, _step(model, inputs, data, optimizer), *_validate(model, inputs, data))
        check_finite(epoch, "lower lr")
        history.append(epoch)
        on_epoch(epoch)
        if best is None or settings.stop == "window" or epoch.rank > best.rank:
            best, best_state = epoch, deepcopy(model.state_dict())
        if is_over(history, best, settings):
            break
    assert best is not None  # there is at least one epoch
    model.load_state_dict(best_state)
    return best, history


def is_over(history: list[Epoch], best: Epoch, settings: Settings) -> bool:
    """Whether the stopping rule ends the run after the last epoch of ``history``."""
    last = history[-1]
    if settings.stop == "patience":
        return last.epoch - best.epoch >= settings.patience
    before = history[-settings.patience - 1 : -1]
    return len(before) == settings.patience and last.val_loss > fmean(epoch.val_loss for epoch in before)


@torch.no_grad()
def class_scores(model: nn.Module, inputs: Sequence[Any]) -> Tensor:
    """Of all nodes [N, C]."""
    model.eval()
    out: Tensor = model(*inputs)
    return out


def _step(model: nn.Module, inputs: Sequence[Any], data: Data, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    optimizer.zero_grad()
    loss = _loss(model(*inputs), data.y, data.train_mask)
    loss.backward()
    optimizer.step()
    return loss.item()


def _validate(model: nn.Module, inputs: Sequence[Any], data: Data) -> tuple[float, float]:
    scores = class_scores(model, inputs)
    return _loss(scores, data.y, data.val_mask).item(), accuracy(scores, data.y, data.val_mask)


def _loss(scores: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    return F.cross_entropy(scores[mask], y[mask])
