"""LINKX (Lim et al., 2021): adjacency and features embedded apart, then together, without message passing."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from ncgnn.errors import InputError
from ncgnn.models.base.layers import dropout
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class LINKXSettings(TrainingSettings):
    """The settings of LINKX, by default those of its authors' code, with a width and a depth of their grid."""

    encoders: int = Field(1, ge=1, le=16, description="layers that embed the adjacency, and layers that embed features")
    layers: int = Field(2, ge=1, le=16, description="layers after the two are joined")
    width: int = Field(64, ge=1, le=4096, description="size of all layers but the last")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate between the layers after the join")
    weight_decay: float = Field(1e-3, ge=0, le=100, description="weight decay, as AdamW has it")
    normalize_features: bool = Field(
        False, description="divide each feature row by its L1 norm", json_schema_extra={"introduced": True}
    )


class LINKX(nn.Module):
    r""":math:`\mathbf{H}_A = \mathrm{MLP}_A(\mathbf{A})`, :math:`\mathbf{H}_X = \mathrm{MLP}_X(\mathbf{X})` and
    :math:`\mathbf{Y} = \mathrm{MLP}_f(\mathrm{ReLU}([\mathbf{H}_A, \mathbf{H}_X] \mathbf{W} + \mathbf{H}_A +
    \mathbf{H}_X))`. Inside each MLP, batch normalisation follows ReLU; inside :math:`\mathrm{MLP}_f`, so does dropout.

    The first layer of :math:`\mathrm{MLP}_A` has a row of weights for each node, so it knows these nodes only.

    Shapes:
        - **input:** features [N, f] and plain adjacency [N, N] as operators
        - **output:** class scores [N, C], before the softmax
    """

    def __init__(self, sizes: Sizes, settings: LINKXSettings) -> None:
        super().__init__()
        width = settings.width
        self.of_nodes = Encoder(sizes.nodes, width, settings.encoders)
        self.of_features = Encoder(sizes.features, width, settings.encoders)
        self.join = nn.Linear(2 * width, width)
        first, *others = pairwise([*[width] * settings.layers, sizes.classes])
        self.first = nn.Linear(*first)
        self.others = Hidden(others, settings.dropout)

    def forward(self, x: LinearOperator, a: LinearOperator) -> Tensor:
        expected = len(self.of_nodes.weight)
        if a.shape[1] != expected:
            known = f"LINKX predicts only the {expected} nodes it was trained on"
            raise InputError(f"{known}, in the same order, and this graph has {a.shape[1]}")
        h_a, h_x = self.of_nodes(a), self.of_features(x)
        joined = (self.join(torch.cat([h_a, h_x], dim=1)) + h_a + h_x).relu()
        out: Tensor = self.others(self.first(joined))
        return out


class Encoder(nn.Module):
    """An MLP whose input is an operator, dense or sparse."""

    def __init__(self, in_channels: int, width: int, layers: int) -> None:
        super().__init__()
        bound = max(in_channels, 1) ** -0.5  # as of nn.Linear
        self.weight = nn.Parameter(torch.empty(in_channels, width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(width).uniform_(-bound, bound))
        self.others = Hidden([(width, width)] * (layers - 1))

    def forward(self, x: LinearOperator) -> Tensor:
        h: Tensor = self.others(x @ self.weight + self.bias)
        return h


class Hidden(nn.Module):
    """ReLU, batch normalisation, dropout and a linear layer, for each pair of sizes."""

    def __init__(self, sizes: list[tuple[int, int]], dropout: float = 0.0) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.BatchNorm1d(size) for size, _ in sizes)
        self.layers = nn.ModuleList(nn.Linear(*both) for both in sizes)
        self.dropout = dropout

    def forward(self, h: Tensor) -> Tensor:
        for norm, layer in zip(self.norms, self.layers, strict=True):
            h = layer(dropout(norm(h.relu()), self.dropout, self.training))
        return h


class LINKXModel(Model[LINKXSettings]):
    """Edges with their weights, not normalised. It predicts only the nodes it was trained on, in the same order."""

    name, title, settings_class = "linkx", "LINKX", LINKXSettings

    def prepare(self, graph: PreparedGraph, settings: LINKXSettings) -> Inputs:
        a = CSR.from_scipy(plain_adjacency(graph.data), torch.get_default_dtype())
        return Inputs((graph.features(settings.normalize_features), a))

    def build(self, sizes: Sizes, settings: LINKXSettings) -> LINKX:
        return LINKX(sizes, settings)

    def training(self, module: nn.Module, settings: LINKXSettings) -> Training:
        decay = {"weight_decay": settings.weight_decay, "decoupled_weight_decay": True}
        optimizer = adam([{"params": list(module.parameters())} | decay], settings.lr)
        return Training(CrossEntropy(), optimizer, Patience(settings.patience), settings.epochs)

    def candidates(self) -> list[LINKXSettings]:
        """Two layers and one after the join, of unchanged and of row-normalised features."""
        one, divided = {"layers": 1}, {"normalize_features": True}
        return [LINKXSettings.make(values) for values in ({}, one, divided, one | divided)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "encoders": trial.suggest_int("encoders", 1, 2),
            "layers": trial.suggest_int("layers", 1, 3),
            "width": trial.suggest_categorical("width", (16, 32, 64, 128, 256)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "encoders", "layers", "width"}
        return [self.settings_class.make({}).model_dump(include=names)]


MODEL = LINKXModel()
