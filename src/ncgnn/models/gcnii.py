"""GCNII (Chen et al., 2020): many layers with initial residual connections."""

import math
from typing import TYPE_CHECKING, Any, cast

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.init import xavier_uniform_

from ncgnn.models.base.layers import dropout, dropped, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.presets import read_preset
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class GCNIISettings(TrainingSettings):
    """The settings of GCNII."""

    layers: int = Field(16, ge=1, le=256, description="number of convolutions")
    width: int = Field(64, ge=1, le=4096, description="size of each layer")
    dropout: float = Field(0.6, ge=0, lt=1, description="dropout rate on the input of each layer")
    alpha: float = Field(0.1, ge=0, lt=1, description="share of the first layer in each")
    theta: float = Field(0.5, gt=0, description="strength of the weights, which falls with depth")
    conv_decay: float | None = Field(
        None, ge=0, le=100, description="weight decay of the convolutions; by default the same as of other layers"
    )


class Mixing(nn.Module):
    r""":math:`\mathrm{ReLU}(((1 - \alpha) \tilde{\mathbf{A}} \mathbf{H} + \alpha \mathbf{H}_0) ((1 - \beta)
    \mathbf{I} + \beta \mathbf{W}))` with :math:`\beta = \ln(\theta / l + 1)` in layer :math:`l`."""

    def __init__(self, width: int, alpha: float, theta: float, layer: int) -> None:
        super().__init__()
        self.weight1 = nn.Parameter(xavier_uniform_(torch.empty(width, width)))
        self.alpha, self.beta = alpha, math.log(theta / layer + 1)

    def forward(self, h: Tensor, start: Tensor, a: CSR) -> Tensor:
        mixed = torch.lerp(a @ h, start, self.alpha)
        return torch.addmm(mixed, mixed, self.weight1, beta=1 - self.beta, alpha=self.beta).relu()


class GCNII(nn.Module):
    """A linear layer, the convolutions, a linear layer."""

    def __init__(self, in_channels: int, out_channels: int, settings: GCNIISettings) -> None:
        super().__init__()
        width, alpha, theta = settings.width, settings.alpha, settings.theta
        self.first = nn.Linear(in_channels, width)
        self.layers = nn.ModuleList(Mixing(width, alpha, theta, number + 1) for number in range(settings.layers))
        self.last = nn.Linear(width, out_channels)
        self.dropout = settings.dropout

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        start = h = linear(dropped(x, self.dropout, self.training), self.first).relu()
        for layer in self.layers:
            h = layer(dropout(h, self.dropout, self.training), start, a)
        out: Tensor = self.last(dropout(h, self.dropout, self.training))
        return out


class GCNIIModel(Model[GCNIISettings]):
    """With the sizes of its paper by default, and the library's own sparse products."""

    name, title, settings_class = "gcnii", "GCNII", GCNIISettings
    measured = 6
    depth = "layers"

    def prepare(self, graph: PreparedGraph, settings: GCNIISettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.adjacency))

    def build(self, sizes: Sizes, settings: GCNIISettings) -> GCNII:
        return GCNII(sizes.features, sizes.classes, settings)

    def training(self, module: nn.Module, settings: GCNIISettings) -> Training:
        net = cast(GCNII, module)
        convs, others = list(net.layers.parameters()), [*net.first.parameters(), *net.last.parameters()]
        decay = settings.weight_decay if settings.conv_decay is None else settings.conv_decay
        groups = [{"params": convs, "weight_decay": decay}, {"params": others, "weight_decay": settings.weight_decay}]
        optimizer = adam(groups, settings.lr)
        return Training(CrossEntropy(), optimizer, Patience(settings.patience), settings.epochs)

    def published(self, graph: str, hops: int | None = None) -> GCNIISettings:
        """The authors' settings for a graph; for graphs they did not use, those for Cora."""
        on_cora = {"layers": 64, "conv_decay": 1e-2, "epochs": 1500}
        values = on_cora | (read_preset(self.name, graph, "published") or {})
        return self.within(GCNIISettings.make(values), hops)

    def candidates(self) -> list[GCNIISettings]:
        """The default, row-normalised and unchanged features, and a larger share of the first layer, which suits graphs
        whose neighbours differ."""
        raw, other = {"normalize_features": False}, {"layers": 8, "alpha": 0.5, "theta": 1.0, "dropout": 0.5}
        return [GCNIISettings.make(values) for values in ({}, other, raw, raw | other)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "layers": trial.suggest_categorical("layers", (4, 8, 16, 32)),
            "alpha": trial.suggest_categorical("alpha", (0.1, 0.2, 0.5)),
            "theta": trial.suggest_categorical("theta", (0.5, 1.0, 1.5)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "layers", "alpha", "theta"}
        return [self.settings_class.make({}).model_dump(include=names)]


MODEL = GCNIIModel()
