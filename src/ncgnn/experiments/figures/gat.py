"""GAT, for the one figure that shows it."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.bench.peers import GAT, dense
from ncgnn.experiments.figures.models import Shown, describe
from ncgnn.experiments.protocol import hide_test_labels
from ncgnn.train.run import Epoch, accuracy, prepare_features

SETTINGS: dict[str, Any] = {"lr": 0.005, "weight_decay": 5e-4, "epochs": 200, "normalize_features": True, "seed": 0}
"""Those of Veličković et al. besides the size; 200 epochs, and the weights that are best on validation."""


@dataclass(frozen=True, eq=False)
class _Inputs:
    data: Data
    x: Tensor


def show_gat(data: Data, settings: dict[str, Any] = SETTINGS) -> Shown:
    """Eight heads of eight, then one, in PyG."""
    inputs = _Inputs(hide_test_labels(data), dense(prepare_features(data.x, settings["normalize_features"])))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings["seed"])
        model = GAT(inputs.x.shape[1], len(data.class_names))
        best = _train(model, inputs, settings)
    probabilities = _scores(model, inputs).softmax(dim=1).numpy()
    return Shown(model, probabilities, describe("GAT", data, settings, best, probabilities))


@torch.no_grad()
def gat_hidden(data: Data, shown: Shown) -> np.ndarray:
    """What the eight heads of the first layer say, side by side [N, 64]."""
    x = dense(prepare_features(data.x, SETTINGS["normalize_features"]))
    hidden: np.ndarray = F.elu(shown.model.first(x, data.edge_index)).numpy()
    return hidden


def _train(model: GAT, inputs: _Inputs, settings: dict[str, Any]) -> Epoch:
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["lr"], weight_decay=settings["weight_decay"])
    best, best_state = None, model.state_dict()
    for number in range(1, settings["epochs"] + 1):
        epoch = Epoch(number, _step(model, optimizer, inputs), *_validate(model, inputs))
        if best is None or (epoch.val_accuracy, -epoch.val_loss) > (best.val_accuracy, -best.val_loss):
            best, best_state = epoch, deepcopy(model.state_dict())
    assert best is not None  # there is at least one epoch
    model.load_state_dict(best_state)
    return best


def _step(model: GAT, optimizer: torch.optim.Optimizer, inputs: _Inputs) -> float:
    model.train()
    optimizer.zero_grad()
    loss = _loss(model(inputs.x, inputs.data.edge_index), inputs.data, inputs.data.train_mask)
    loss.backward()
    optimizer.step()
    return loss.item()


def _validate(model: GAT, inputs: _Inputs) -> tuple[float, float]:
    scores, data = _scores(model, inputs), inputs.data
    return _loss(scores, data, data.val_mask).item(), accuracy(scores, data.y, data.val_mask)


@torch.no_grad()
def _scores(model: GAT, inputs: _Inputs) -> Tensor:
    model.eval()
    out: Tensor = model(inputs.x, inputs.data.edge_index)
    return out


def _loss(scores: Tensor, data: Data, mask: Tensor) -> Tensor:
    return F.cross_entropy(scores[mask], data.y[mask])
