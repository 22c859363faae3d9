"""GAT (Veličković et al., 2018): neighbours weighted by attention."""

from typing import TYPE_CHECKING, Any, cast

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from ncgnn.models.base.layers import dropped
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.sparse.attention import attend
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class GATSettings(TrainingSettings):
    """The settings of GAT, by default those of its authors on Cora and Citeseer."""

    layers: int = Field(2, ge=1, le=64, description="number of layers")
    heads: int = Field(8, ge=1, le=64, description="attention heads of all layers but the last")
    out_heads: int = Field(1, ge=1, le=64, description="attention heads of the last layer, averaged")
    width: int = Field(8, ge=1, le=1024, description="size of a head of all layers but the last")
    dropout: float = Field(0.6, ge=0, lt=1, description="dropout rate on the input of each layer and on attention")
    lr: float = Field(0.005, gt=0, le=100, description="learning rate")


class Attention(GATConv):
    """PyG's layer with features that may be sparse and a fused sum, several times faster on a CPU."""

    def forward(self, x: LinearOperator | Tensor, a: CSR) -> Tensor:
        h = (x @ self.lin.weight.t()).unflatten(1, (self.heads, self.out_channels))
        to, of = ((h * weight).sum(dim=-1) for weight in (self.att_dst, self.att_src))
        kept = None
        if self.training and self.dropout:
            entries = a.pattern.indices.numel(), self.heads
            kept = (torch.rand(entries, device=h.device) >= self.dropout) / (1 - self.dropout)
        out = attend(h, to, of, a.pattern, self.negative_slope, kept)
        joined: Tensor = (out.flatten(1) if self.concat else out.mean(dim=1)) + self.bias
        return joined


class GAT(nn.Module):
    r"""Layers :math:`\mathbf{h}_i' = \mathrm{ELU}(\Vert_k \sum_j \alpha_{ij}^k \mathbf{W}^k \mathbf{h}_j)` over
    neighbours and the node itself, with :math:`\alpha_{ij}^k = \mathrm{softmax}_j\, \mathrm{LeakyReLU}(\mathbf{a}_l^k
    \mathbf{W}^k \mathbf{h}_i + \mathbf{a}_r^k \mathbf{W}^k \mathbf{h}_j)`; the last layer averages its heads instead.

    The authors' code also drops projected features inside each head; PyG's layer, used here, does not.
    """

    def __init__(self, in_channels: int, out_channels: int, settings: GATSettings) -> None:
        super().__init__()
        width, heads, self.dropout = settings.width, settings.heads, settings.dropout
        sizes = [in_channels, *[width * heads] * (settings.layers - 1)]
        layers = [Attention(size, width, heads, dropout=self.dropout) for size in sizes[:-1]]
        last = Attention(sizes[-1], out_channels, settings.out_heads, concat=False, dropout=self.dropout)
        self.layers = nn.ModuleList([*layers, last])

    def hidden(self, x: LinearOperator, a: CSR) -> LinearOperator | Tensor:
        """Input of the last layer [N, heads width]: concatenated outputs of the heads."""
        *layers, _ = self.layers
        h: LinearOperator | Tensor = dropped(x, self.dropout, self.training)
        for layer in layers:
            h = F.dropout(F.elu(layer(h, a)), self.dropout, self.training)
        return h

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        out: Tensor = self.layers[-1](self.hidden(x, a), a)
        return out


class GATModel(Model[GATSettings]):
    """Edges without their weights."""

    name, title, settings_class = "gat", "GAT", GATSettings
    measured = 4
    depth = "layers"

    def prepare(self, graph: PreparedGraph, settings: GATSettings) -> Inputs:
        x = graph.features(settings.normalize_features)
        return Inputs((x, graph.neighbours("rows", has_loops=True)))

    def build(self, sizes: Sizes, settings: GATSettings) -> GAT:
        return GAT(sizes.features, sizes.classes, settings)

    def hidden(self, module: nn.Module, inputs: Inputs) -> Tensor:
        hidden = cast(GAT, module.eval()).hidden(*inputs.arguments)
        return hidden if isinstance(hidden, Tensor) else hidden.to_dense()

    def candidates(self) -> list[GATSettings]:
        """The published settings, with row-normalised and unchanged features, and less regularisation, which suits
        many labels."""
        weak = {"dropout": 0.2, "weight_decay": 5e-5, "lr": 0.01}
        raw = {"normalize_features": False}
        return [GATSettings.make(values) for values in ({}, raw, raw | weak)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "heads": trial.suggest_categorical("heads", (4, 8)),
            "width": trial.suggest_categorical("width", (8, 16)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "heads", "width"}
        return [self.published(graph).model_dump(include=names)]


MODEL = GATModel()
