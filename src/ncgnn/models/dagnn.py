"""DAGNN (Liu et al., 2020): predict, propagate, and let each node weigh its hops."""

from typing import TYPE_CHECKING, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from ncgnn.models.base.layers import dropout, dropped, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class DAGNNSettings(TrainingSettings):
    """The settings of DAGNN, by default those of its authors on Cora."""

    width: int = Field(64, ge=1, le=4096, description="size of the hidden layer")
    steps: int = Field(10, ge=0, le=1000, description="propagation steps, K")
    dropout: float = Field(0.8, ge=0, lt=1, description="dropout rate on the input of each layer")
    weight_decay: float = Field(5e-3, ge=0, le=100, description="weight decay")


class DAGNN(nn.Module):
    r""":math:`\mathbf{Z} = \mathrm{MLP}(\mathbf{X})`, :math:`\mathbf{H}_k = \tilde{\mathbf{A}}^k \mathbf{Z}`,
    :math:`\mathbf{s}_k = \sigma(\mathbf{H}_k \mathbf{w} + b)` and :math:`\mathbf{Y} = \sum_{k=0}^K \mathbf{s}_k \odot
    \mathbf{H}_k`."""

    def __init__(self, in_channels: int, out_channels: int, settings: DAGNNSettings) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, settings.width)
        self.second = nn.Linear(settings.width, out_channels)
        self.share = nn.Linear(out_channels, 1)
        self.steps, self.dropout = settings.steps, settings.dropout

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        hidden = linear(dropped(x, self.dropout, self.training), self.first).relu()
        hops = [self.second(dropout(hidden, self.dropout, self.training))]
        for _ in range(self.steps):
            hops.append(a @ hops[-1])
        h = torch.stack(hops, dim=1)  # [N, K + 1, C]
        out: Tensor = (self.share(h).sigmoid() * h).sum(dim=1)
        return out


class DAGNNModel(Model[DAGNNSettings]):
    """With the authors' stopping replaced by patience: they stop once the validation loss exceeds its mean over 100
    epochs, and never before half of the epochs."""

    name, title, settings_class = "dagnn", "DAGNN", DAGNNSettings
    depth = "steps"

    def prepare(self, graph: PreparedGraph, settings: DAGNNSettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.adjacency))

    def build(self, sizes: Sizes, settings: DAGNNSettings) -> DAGNN:
        return DAGNN(sizes.features, sizes.classes, settings)

    def candidates(self) -> list[DAGNNSettings]:
        """The published settings, unchanged features, and less regularisation, which suits many labels."""
        weak = {"dropout": 0.5, "weight_decay": 5e-5, "steps": 5}
        raw = {"normalize_features": False}
        return [DAGNNSettings.make(values) for values in ({}, weak, raw, raw | weak)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {"steps": trial.suggest_categorical("steps", (2, 5, 10, 20))}

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "steps"}
        point = self.published(graph).model_dump(include=names)
        return [point | {"weight_decay": min(point["weight_decay"], 1e-2)}]  # the largest in the space


MODEL = DAGNNModel()
