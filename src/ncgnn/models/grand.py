"""GRAND (Feng et al., 2020): an MLP on features that are dropped by node, smoothed, and drawn several times a step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.models.base.layers import dropout
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings, stepped
from ncgnn.sparse import CSR, LinearOperator, Polynomial
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy, Extension, Forward
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class GRANDSettings(TrainingSettings):
    """The settings of GRAND, by default those of its authors for Cora."""

    width: int = Field(32, ge=1, le=4096, description="size of the hidden layer")
    order: int = Field(8, ge=0, le=1000, description="number of smoothing steps, over which features are averaged")
    draws: int = Field(4, ge=1, le=64, description="number of random draws of dropped nodes in each training step")
    node_dropout: float = Field(0.5, ge=0, lt=1, description="rate at which nodes lose all features before smoothing")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on smoothed features")
    hidden_dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the hidden layer")
    consistency: float = Field(1.0, ge=0, description="weight of the distance of all draws from their sharpened mean")
    temperature: float = Field(0.5, gt=0, le=10, description="temperature of that mean; less than 1 sharpens it")
    norm: bool = Field(False, description="batch normalisation before each layer")
    epochs: int = Field(5000, ge=1, description="maximum number of epochs")
    patience: int = Field(200, ge=1, description="epochs without improvement on validation before stopping")


class GRAND(nn.Module):
    r"""An MLP on :math:`\bar{\mathbf{X}} = \frac{1}{K + 1} \sum_{k=0}^{K} \tilde{\mathbf{A}}^k \operatorname{diag}(
    \epsilon) \mathbf{X}`, where :math:`\epsilon_i` is drawn from 0 and 1 in training, and is the mean
    :math:`1 - \delta` otherwise.

    The first layer is applied before smoothing, which gives the same and costs less, unless dropout or normalisation
    stands between them in training.
    """

    def __init__(self, sizes: Sizes, settings: GRANDSettings) -> None:
        super().__init__()
        self.first = nn.Linear(sizes.features, settings.width)
        self.second = nn.Linear(settings.width, sizes.classes)
        self.norms = nn.ModuleList(nn.BatchNorm1d(size) for size in (sizes.features, settings.width) if settings.norm)
        self.settings = settings

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        how, p = (
            self.settings,
            Polynomial(a, a.values.new_full((self.settings.order + 1,), 1 / (self.settings.order + 1))),
        )
        if self.norms or (self.training and how.dropout):
            dense = x.to_dense() if isinstance(x, CSR) else x.parameter
            smooth = p @ (self._kept(len(dense), dense) * dense)
            smooth = self.norms[0](smooth) if self.norms else smooth
            hidden = self.first(dropout(smooth, how.dropout, self.training))
        else:
            product = x @ self.first.weight.t()
            hidden = p @ (self._kept(len(product), product) * product) + self.first.bias
        hidden = self.norms[1](hidden.relu()) if self.norms else hidden.relu()
        out: Tensor = self.second(dropout(hidden, how.hidden_dropout, self.training))
        return out

    def _kept(self, nodes: int, like: Tensor) -> Tensor:
        """Which nodes keep their features [N, 1]."""
        share = like.new_full((nodes, 1), 1 - self.settings.node_dropout)
        return torch.bernoulli(share) if self.training else share


@dataclass(frozen=True)
class Consistent(Extension):
    """An objective on several draws, and the squared distance of their shares from the sharpened mean, over all nodes,
    labelled or not."""

    draws: int
    weight: float
    temperature: float

    def loss(self, forward: Forward, inputs: Inputs, split: Data) -> Tensor:
        drawn = torch.stack([forward(inputs) for _ in range(self.draws)])
        known = torch.stack([self.of(scores[split.train_mask], split.y[split.train_mask]) for scores in drawn]).mean()
        return known + self.weight * distance(drawn.softmax(dim=-1), self.temperature)


def distance(shares: Tensor, temperature: float) -> Tensor:
    """Mean squared distance of shares [S, N, C] from their mean, sharpened and held fixed."""
    sharp = shares.mean(dim=0).pow(1 / temperature)
    target = (sharp / sharp.sum(dim=1, keepdim=True)).detach()
    return (shares - target).square().sum(dim=-1).mean()


class GRANDModel(Model[GRANDSettings]):
    """Learns from all nodes through its own draws, not from soft targets."""

    name, title, settings_class = "grand", "GRAND", GRANDSettings
    takes_targets = False

    def prepare(self, graph: PreparedGraph, settings: GRANDSettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.adjacency))

    def build(self, sizes: Sizes, settings: GRANDSettings) -> GRAND:
        return GRAND(sizes, settings)

    def training(self, module: nn.Module, settings: GRANDSettings) -> Training:
        objective = Consistent(CrossEntropy(), settings.draws, settings.consistency, settings.temperature)
        groups = [{"params": list(module.parameters()), "weight_decay": settings.weight_decay}]
        return Training(objective, adam(groups, settings.lr), Patience(settings.patience), settings.epochs)

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "order": trial.suggest_categorical("order", (2, 4, 8)),
            "hidden_dropout": stepped(trial, "hidden_dropout", 0.0, 0.8, 0.1),
            "consistency": stepped(trial, "consistency", 0.5, 1.5, 0.1),
            "temperature": stepped(trial, "temperature", 0.1, 0.5, 0.1),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        searched = {"hidden_dropout", "order", "consistency", "temperature"}
        names = {"lr", "weight_decay", "normalize_features", "dropout", *searched}
        return [GRANDSettings.make({}).model_dump(include=names)]


MODEL = GRANDModel()
