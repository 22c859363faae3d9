"""One run: train on one split, stop by validation, keep the best weights."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.graph import increment_version
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.nn import NCGNN, PreparedFilter, margin_loss
from ncgnn.sparse import LinearOperator, Reused, cheaper_operator, pool
from ncgnn.train.config import Config


class Epoch(NamedTuple):
    """What is known after an epoch; one row of ``history.csv``."""

    epoch: int
    train_loss: float
    val_loss: float
    val_accuracy: float

    @property
    def rank(self) -> tuple[float, float]:
        """Greater for the better of two epochs: by accuracy and, where that is equal, by loss."""
        return self.val_accuracy, -self.val_loss


class Diverged(InputError):
    """Settings that lead to no result."""


@dataclass
class Fit:
    """A trained model with the weights of its best epoch, and how it got there."""

    model: NCGNN
    best: Epoch
    history: list[Epoch] = field(repr=False)


def fit(data: Data, x: Tensor, prepared: PreparedFilter, config: Config, on_epoch: Callable[[Epoch], None]) -> Fit:
    """Train a model on ``data.train_mask``; early stopping and the choice of weights look at ``data.val_mask`` alone.

    A result is better when its validation accuracy is higher or, at equal accuracy, its loss lower. The outcome is
    a function of the arguments: the random state of the caller is neither used nor changed.
    """
    with torch.random.fork_rng(devices=[x.device] if x.device.type == "cuda" else []):
        torch.manual_seed(config.seed)
        model = config.make_model(x.shape[1], len(data.class_names)).to(x.device)
        try:
            return _fit(model, data, Reused(cheaper_operator(x)), prepared, config, on_epoch)
        finally:
            pool.clear()


def _fit(
    model: NCGNN,
    data: Data,
    x: LinearOperator,
    prepared: PreparedFilter,
    config: Config,
    on_epoch: Callable[[Epoch], None],
) -> Fit:
    optimizer = make_optimizer(model, config)
    history: list[Epoch] = []
    best, best_state = None, model.state_dict()
    for number in range(1, config.epochs + 1):
        train_loss = train_step(model, optimizer, data, x, prepared, config)
        epoch = Epoch(number, train_loss, *_validate(model, data, x, prepared, config))
        check_finite(epoch, "lower lr or beta")
        history.append(epoch)
        on_epoch(epoch)
        if best is None or epoch.rank > best.rank:
            best, best_state = epoch, deepcopy(model.state_dict())
        elif number - best.epoch >= config.patience:
            break
    assert best is not None  # there is at least one epoch
    model.load_state_dict(best_state)
    model.zero_grad()  # gives the memory of the gradients back
    model.eval()
    return Fit(model, best, history)


def check_finite(epoch: Epoch, remedy: str) -> None:
    if not (isfinite(epoch.train_loss) and isfinite(epoch.val_loss)):
        raise Diverged(f"training diverged: the loss of epoch {epoch.epoch} is not a number; {remedy}")


def make_optimizer(model: NCGNN, config: Config) -> torch.optim.Optimizer:
    """Adam, with a rate of its own and no weight decay for zeta."""
    weights = [p for name, p in model.named_parameters() if name != "filter.zeta"]
    zeta = [p for name, p in model.named_parameters() if name == "filter.zeta"]
    groups = [
        {"params": weights, "weight_decay": config.weight_decay},
        {"params": zeta, "lr": config.zeta_lr, "weight_decay": 0.0},
    ]
    return torch.optim.Adam([g for g in groups if g["params"]], lr=config.lr, fused=True)


def train_step(
    model: NCGNN,
    optimizer: torch.optim.Optimizer,
    data: Data,
    x: Tensor | LinearOperator,
    prepared: PreparedFilter,
    config: Config,
) -> float:
    """One step of the optimiser on the training nodes; the loss before it."""
    model.train()
    optimizer.zero_grad()
    loss = _loss(model(x, prepared), data.y, data.train_mask, config)
    loss.backward()
    optimizer.step()
    increment_version(list(model.parameters()))  # the fused optimiser changes them without a word
    return loss.item()


@torch.no_grad()
def _validate(
    model: NCGNN, data: Data, x: LinearOperator, prepared: PreparedFilter, config: Config
) -> tuple[float, float]:
    model.eval()
    scores = model(x, prepared)
    return _loss(scores, data.y, data.val_mask, config).item(), accuracy(scores, data.y, data.val_mask)


def _loss(scores: Tensor, y: Tensor, mask: Tensor, config: Config) -> Tensor:
    return margin_loss(scores[mask], y[mask], config.m_plus, config.m_minus, config.lam)


def accuracy(scores: Tensor, y: Tensor, mask: Tensor) -> float:
    """Share of the nodes in ``mask`` whose highest score is that of their class; NaN for an empty mask."""
    return (scores[mask].argmax(dim=1) == y[mask]).float().mean().item()


def prepare_features(x: Tensor, normalize: bool) -> Tensor:
    """The features as the model takes them: as they are, or each row divided by the sum of its magnitudes."""
    x = x.to(torch.get_default_dtype())  # the type of the weights
    if not normalize:
        return x
    if x.layout == torch.strided:
        return x / x.abs().sum(dim=1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    counts = x.crow_indices().diff()
    rows = torch.repeat_interleave(torch.arange(x.shape[0], device=x.device), counts)
    sums = x.values().new_zeros(x.shape[0]).index_add(0, rows, x.values().abs())
    out = x.clone()
    out.values().div_(sums[rows].clamp(min=torch.finfo(x.dtype).tiny))
    return out
