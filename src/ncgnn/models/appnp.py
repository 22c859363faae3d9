"""APPNP (Gasteiger et al., 2019): predict, then propagate."""

from typing import Literal, cast

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from ncgnn.models.base.layers import dropped, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator, Polynomial, thinned
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience


class APPNPSettings(TrainingSettings):
    """The settings of APPNP."""

    width: int = Field(64, ge=1, le=4096, description="size of the hidden layer")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    steps: int = Field(10, ge=1, le=1000, description="steps of PageRank")
    alpha: float = Field(0.1, gt=0, lt=1, description="teleport probability")
    edge_dropout: float = Field(0.0, ge=0, lt=1, description="dropout rate on the adjacency matrix in each step")
    decay: Literal["first", "all"] = Field("all", description="which layers have weight decay")


class APPNP(nn.Module):
    r"""Two linear layers, then PageRank: :math:`\mathbf{Z} \leftarrow (1 - \alpha) \tilde{\mathbf{A}} \mathbf{Z} +
    \alpha \mathbf{H}`, a polynomial in :math:`\tilde{\mathbf{A}}`."""

    coefficients: Tensor

    def __init__(self, in_channels: int, out_channels: int, settings: APPNPSettings) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, settings.width)
        self.second = nn.Linear(settings.width, out_channels)
        alpha, steps = settings.alpha, settings.steps
        powers = [alpha * (1 - alpha) ** i for i in range(steps)] + [(1 - alpha) ** steps]
        self.register_buffer("coefficients", torch.tensor(powers), persistent=False)
        self.dropout, self.edge_dropout = settings.dropout, settings.edge_dropout
        self.alpha, self.steps = alpha, steps

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        hidden = linear(dropped(x, self.dropout, self.training), self.first).relu()
        scores: Tensor = self.second(F.dropout(hidden, self.dropout, self.training))
        if self.training and self.edge_dropout:
            return self._with_other_edges_each_step(scores, a)
        return Polynomial(a, self.coefficients.to(a.values)) @ scores

    def _with_other_edges_each_step(self, scores: Tensor, a: CSR) -> Tensor:
        z = scores
        for _ in range(self.steps):
            z = (1 - self.alpha) * (thinned(a, self.edge_dropout) @ z) + self.alpha * scores
        return z


class APPNPModel(Model[APPNPSettings]):
    """With the sizes of its paper by default, and the library's own sparse products. Linear layers have biases, the
    authors' have none."""

    name, title, settings_class = "appnp", "APPNP", APPNPSettings
    depth = "steps"
    measured = 5
    rival = 8
    in_search = True

    def prepare(self, graph: PreparedGraph, settings: APPNPSettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.adjacency))

    def build(self, sizes: Sizes, settings: APPNPSettings) -> APPNP:
        return APPNP(sizes.features, sizes.classes, settings)

    def training(self, module: nn.Module, settings: APPNPSettings) -> Training:
        first, second = (list(layer.parameters()) for layer in (cast(APPNP, module).first, cast(APPNP, module).second))
        rest = settings.weight_decay if settings.decay == "all" else 0.0
        groups = [{"params": first, "weight_decay": settings.weight_decay}, {"params": second, "weight_decay": rest}]
        optimizer = adam(groups, settings.lr)
        return Training(CrossEntropy(), optimizer, Patience(settings.patience), settings.epochs)

    def published(self, graph: str, hops: int | None = None) -> APPNPSettings:
        """The authors' settings for all graphs."""
        found = {"weight_decay": 5e-3, "decay": "first", "edge_dropout": 0.5, "epochs": 10_000}
        return self.within(APPNPSettings.make(found), hops)

    def candidates(self) -> list[APPNPSettings]:
        """The default, the authors' stronger weight decay, unchanged features, and less regularisation with a higher
        teleport probability, which suits graphs whose neighbours differ."""
        weak = {"dropout": 0.2, "weight_decay": 5e-5, "alpha": 0.5}
        raw = {"normalize_features": False}
        return [APPNPSettings.make(values) for values in ({}, {"weight_decay": 5e-3}, raw, raw | weak)]


MODEL = APPNPModel()
