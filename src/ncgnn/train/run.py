"""One run of NCGNN: train on one split, stop by validation, keep the best weights."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.models.ncgnn.config import Config
from ncgnn.nn import NCGNN, PreparedFilter
from ncgnn.sparse import Reused, cheaper_operator
from ncgnn.train.epoch import Epoch
from ncgnn.train.loop import Training, train
from ncgnn.train.objectives import Margin
from ncgnn.train.reproducible import seeded
from ncgnn.train.stopping import Patience


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
    with seeded(config.seed, x.device):
        model = config.make_model(x.shape[1], len(data.class_names)).to(x.device)
        inputs = Reused(cheaper_operator(x)), prepared
        trained = train(model, inputs, data, training(model, config), on_epoch)
    return Fit(model, trained.best, trained.history)


def training(model: NCGNN, config: Config) -> Training:
    """The margin loss, and Adam with a rate of its own and no weight decay for what the filter learns, zeta."""
    of_filter = {id(parameter) for parameter in model.filter.parameters()}
    weights = [p for p in model.parameters() if id(p) not in of_filter]
    groups = [
        {"params": weights, "weight_decay": config.weight_decay},
        {"params": list(model.filter.parameters()), "lr": config.zeta_lr, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.Adam([g for g in groups if g["params"]], lr=config.lr, fused=True)
    objective = Margin(config.m_plus, config.m_minus, config.lam)
    return Training(objective, optimizer, Patience(config.patience), config.epochs, remedy="lower lr or beta")


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
