"""Ordered GNN (Song et al., 2023): each hop writes into the part of a node's features that earlier hops left free."""

from typing import TYPE_CHECKING, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from ncgnn.errors import InputError
from ncgnn.models.base.chosen_edges import ALL
from ncgnn.models.base.layers import dropout, dropped, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings, stepped
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class OrderedSettings(TrainingSettings):
    """The settings of Ordered GNN, with what its authors' settings for all graphs have in common."""

    layers: int = Field(8, ge=1, le=256, description="number of rounds, one hop each")
    encoders: int = Field(1, ge=1, le=16, description="layers before the first round")
    width: int = Field(256, ge=1, le=4096, description="size of each layer")
    chunks: int = Field(64, ge=1, le=4096, description="number of parts of the features that are opened together")
    shared: bool = Field(False, description="whether all rounds share the weights of the gate")
    dropout: float = Field(0.3, ge=0, lt=1, description="dropout rate before and after the rounds")
    round_dropout: float = Field(0.1, ge=0, lt=1, description="dropout rate on the input of each round")
    outer_decay: float = Field(5e-4, ge=0, le=100, description="weight decay before and after the rounds")
    edges: str = Field(ALL, description="the edges that are used: all, in, out, or an edge table")
    lr: float = Field(0.005, gt=0, le=100, description="learning rate")
    epochs: int = Field(2000, ge=1, description="maximum number of epochs")
    patience: int = Field(200, ge=1, description="epochs without improvement on validation before stopping")


class OrderedGNN(nn.Module):
    r"""From :math:`\mathbf{H} = \mathrm{norm}(\mathrm{ReLU}(\mathbf{X} \mathbf{W} + \mathbf{b}))`, each round takes the
    mean over neighbours :math:`\mathbf{M} = \mathbf{D}^{-1} \mathbf{A} \mathbf{H}` where the gate is open:

    .. math::
        \hat{\mathbf{G}} &= \mathrm{cumsum}(\mathrm{softmax}([\mathbf{H}, \mathbf{M}] \mathbf{W}_g + \mathbf{b}_g)) \\
        \mathbf{G} &\leftarrow \mathbf{G} + (1 - \mathbf{G}) \odot \hat{\mathbf{G}} \\
        \mathbf{H} &\leftarrow \mathrm{norm}(\mathbf{G} \odot \mathbf{H} + (1 - \mathbf{G}) \odot \mathbf{M})

    An entry of :math:`\mathbf{G}` is that of a chunk of features; *norm* is layer normalisation. The last layer is
    linear.
    """

    def __init__(self, sizes: Sizes, settings: OrderedSettings) -> None:
        super().__init__()
        width, chunks, self.rounds = settings.width, settings.chunks, settings.layers
        if width % chunks:
            raise InputError(f"width = {width} is not a multiple of chunks = {chunks}")
        inputs = [sizes.features, *[width] * (settings.encoders - 1)]
        self.encoders = nn.ModuleList(nn.Linear(size, width) for size in inputs)
        self.encoder_norms = nn.ModuleList(nn.LayerNorm(width) for _ in inputs)
        self.gates = nn.ModuleList(nn.Linear(2 * width, chunks) for _ in range(1 if settings.shared else self.rounds))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(self.rounds))
        self.last = nn.Linear(width, sizes.classes)
        self.repeats, self.dropout, self.round_dropout = width // chunks, settings.dropout, settings.round_dropout

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        h = self._encoded(x)
        gate = h.new_zeros(())
        for number, norm in enumerate(self.norms):
            h = dropout(h, self.round_dropout, self.training)
            mean = a @ h
            opened = self.gates[number % len(self.gates)](torch.cat([h, mean], dim=1)).softmax(dim=1).cumsum(dim=1)
            gate = gate + (1 - gate) * opened
            kept = gate.repeat_interleave(self.repeats, dim=1)
            h = norm(kept * h + (1 - kept) * mean)
        out: Tensor = self.last(dropout(h, self.dropout, self.training))
        return out

    def _encoded(self, x: LinearOperator) -> Tensor:
        first, *others = zip(self.encoders, self.encoder_norms, strict=True)
        layer, norm = first
        h: Tensor = norm(linear(dropped(x, self.dropout, self.training), layer).relu())
        for layer, norm in others:
            h = norm(layer(dropout(h, self.dropout, self.training)).relu())
        return h


class OrderedModel(Model[OrderedSettings]):
    """The layers of the rounds and those around them decay apart."""

    name, title, settings_class = "ordered-gnn", "Ordered GNN", OrderedSettings

    def prepare(self, graph: PreparedGraph, settings: OrderedSettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.neighbours("rows", settings.edges)))

    def build(self, sizes: Sizes, settings: OrderedSettings) -> OrderedGNN:
        return OrderedGNN(sizes, settings)

    def training(self, module: nn.Module, settings: OrderedSettings) -> Training:
        """The norms before the rounds stay as they are, as in the authors' code, whose optimiser lacks them."""
        assert isinstance(module, OrderedGNN)
        inner, outer = (module.gates, module.norms), (module.encoders, module.last)
        groups = [
            {"params": [p for part in parts for p in part.parameters()], "weight_decay": decay}
            for parts, decay in ((inner, settings.weight_decay), (outer, settings.outer_decay))
        ]
        return Training(CrossEntropy(), adam(groups, settings.lr), Patience(settings.patience), settings.epochs)

    def candidates(self) -> list[OrderedSettings]:
        """The default, with row-normalised features, which suits words, and with unchanged features, which suits
        numbers."""
        return [OrderedSettings.make({"normalize_features": divided}) for divided in (True, False)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "layers": trial.suggest_categorical("layers", (2, 4, 8)),
            "width": trial.suggest_categorical("width", (64, 128, 256)),
            "round_dropout": stepped(trial, "round_dropout", 0.0, 0.4, 0.1),
            "outer_decay": trial.suggest_categorical("outer_decay", (5e-4, 5e-3, 5e-2)),
            "shared": trial.suggest_categorical("shared", (False, True)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        searched = {"layers", "width", "round_dropout", "outer_decay", "shared"}
        names = {"lr", "weight_decay", "normalize_features", "dropout", *searched}
        return [OrderedSettings.make({}).model_dump(include=names)]


MODEL = OrderedModel()
