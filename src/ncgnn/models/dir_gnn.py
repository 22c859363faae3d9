"""Dir-GNN (Rossi et al., 2023): graph convolutions with weights of their own for each direction of edges."""

from typing import TYPE_CHECKING, Any, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.nn import JumpingKnowledge

from ncgnn.models.base.chosen_edges import ALL, IN, OUT
from ncgnn.models.base.layers import dropout, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings, stepped
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class DirSettings(TrainingSettings):
    """The settings of Dir-GNN, by default those of its authors' code with Dir-GCN."""

    layers: int = Field(3, ge=1, le=64, description="number of convolutions")
    width: int = Field(64, ge=1, le=4096, description="size of each convolution")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout rate after each convolution")
    alpha: float = Field(0.5, ge=0, le=1, description="share of the nodes that a node links to; the rest link to it")
    join: Literal["max", "cat"] = Field("max", description="how the layers are joined: maximum or concatenation")
    normalize_layers: bool = Field(True, description="divide each node's hidden features by their length")
    root: bool = Field(False, description="add a linear layer of the node itself, as in PyG")
    lr: float = Field(0.001, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(0.0, ge=0, le=100, description="weight decay")
    epochs: int = Field(10_000, ge=1, description="maximum number of epochs")
    patience: int = Field(200, ge=1, description="epochs without improvement on validation before stopping")


class DirConv(nn.Module):
    r""":math:`\alpha (\mathbf{S}_{out} \mathbf{H} \mathbf{W}_{out} + \mathbf{b}_{out}) + (1 - \alpha) (\mathbf{S}_{in}
    \mathbf{H} \mathbf{W}_{in} + \mathbf{b}_{in})`, where a row of :math:`\mathbf{S}_{out}` has the nodes that a node
    links to, and one of :math:`\mathbf{S}_{in}` those that link to it, both divided by the roots of the degrees of both
    ends; with ``root``, :math:`\mathbf{H} \mathbf{W}_r + \mathbf{b}_r` is added.

    PyG's ``DirGNNConv`` around a GCN divides by the degrees of one direction only; the authors' code is as here.
    """

    def __init__(self, in_channels: int, out_channels: int, alpha: float, root: bool) -> None:
        super().__init__()
        self.out = nn.Linear(in_channels, out_channels)
        self.into = nn.Linear(in_channels, out_channels)
        self.root = nn.Linear(in_channels, out_channels) if root else None
        self.alpha = alpha

    def forward(self, h: LinearOperator | Tensor, s_out: CSR, s_in: CSR) -> Tensor:
        parts = ((self.alpha, s_out, self.out), (1 - self.alpha, s_in, self.into))
        found = [share * (s @ (h @ layer.weight.t()) + layer.bias) for share, s, layer in parts if share]
        if self.root is not None:
            found.append(linear(h, self.root))
        return torch.stack(found).sum(dim=0)


class DirGNN(nn.Module):
    """Convolutions with ReLU and dropout, each row divided by its length; their maximum or concatenation; a linear
    layer."""

    def __init__(self, sizes: Sizes, settings: DirSettings) -> None:
        super().__init__()
        width, layers = settings.width, settings.layers
        inputs = [sizes.features, *[width] * (layers - 1)]
        self.convs = nn.ModuleList(DirConv(size, width, settings.alpha, settings.root) for size in inputs)
        self.join = JumpingKnowledge(settings.join)
        self.last = nn.Linear(width * layers if settings.join == "cat" else width, sizes.classes)
        self.dropout, self.normalize_layers = settings.dropout, settings.normalize_layers

    def forward(self, x: LinearOperator, s_out: CSR, s_in: CSR) -> Tensor:
        h: LinearOperator | Tensor = x
        layers = []
        for conv in self.convs:
            hidden = dropout(conv(h, s_out, s_in).relu(), self.dropout, self.training)
            h = F.normalize(hidden) if self.normalize_layers else hidden
            layers.append(h)
        out: Tensor = self.last(self.join(layers))
        return out


class DirModel(Model[DirSettings]):
    """On a graph whose edges have no direction, both directions are all edges."""

    name, title, settings_class = "dir-gnn", "Dir-GNN", DirSettings

    def prepare(self, graph: PreparedGraph, settings: DirSettings) -> Inputs:
        tables = (graph.data.get("edge_tables") or {}).values()
        directions = (OUT, IN) if any(table.is_directed for table in tables) else (ALL, ALL)
        edges = [graph.neighbours("ends", direction) for direction in directions]
        return Inputs((graph.features(settings.normalize_features), *edges))

    def build(self, sizes: Sizes, settings: DirSettings) -> DirGNN:
        return DirGNN(sizes, settings)

    def candidates(self) -> list[DirSettings]:
        """Both directions alike, and each alone with the higher learning rate that the authors use on large graphs."""
        return [DirSettings.make(values) for values in ({"lr": 0.01}, *({"lr": 0.01, "alpha": a} for a in (0, 1)))]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "layers": trial.suggest_int("layers", 1, 5),
            "width": trial.suggest_categorical("width", (64, 128)),
            "alpha": stepped(trial, "alpha", 0.0, 1.0, 0.5),
            "join": trial.suggest_categorical("join", ("max", "cat")),
            "root": trial.suggest_categorical("root", (False, True)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"normalize_features", "dropout", "layers", "width", "alpha", "join", "root"}
        return [DirSettings.make({}).model_dump(include=names) | {"lr": 0.01, "weight_decay": 1e-5}]


MODEL = DirModel()
