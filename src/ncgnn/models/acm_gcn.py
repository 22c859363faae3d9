"""ACM-GCN (Luan et al., 2022): low-pass, high-pass and identity channels, mixed for each node."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from ncgnn.models.base.chosen_edges import ALL
from ncgnn.models.base.layers import dropout, dropped
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

_CHANNELS = 3


class ACMSettings(TrainingSettings):
    """The settings of ACM-GCN, by default those of its authors' code, with a dropout and decay of their grid."""

    layers: int = Field(2, ge=1, le=64, description="number of layers")
    width: int = Field(64, ge=1, le=4096, description="size of all layers but the last")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    edges: str = Field(ALL, description="the edges that are used: all, in, out, or an edge table")
    epochs: int = Field(5000, ge=1, description="maximum number of epochs")
    patience: int = Field(200, ge=1, description="epochs without improvement on validation before stopping")


class Channels(nn.Module):
    r"""One layer: :math:`3 \sum_c \operatorname{diag}(\alpha_c) \mathbf{H}_c` of the channels
    :math:`\mathbf{H}_L = \mathrm{ReLU}(\hat{\mathbf{A}} \mathbf{H} \mathbf{W}_L)`,
    :math:`\mathbf{H}_H = \mathrm{ReLU}((\mathbf{I} - \hat{\mathbf{A}}) \mathbf{H} \mathbf{W}_H)` and
    :math:`\mathbf{H}_I = \mathrm{ReLU}(\mathbf{H} \mathbf{W}_I)`, where :math:`\hat{\mathbf{A}}` is the mean over a
    node and its neighbours. The weights of a node are :math:`\mathrm{softmax}(\sigma([\mathbf{H}_L \mathbf{a}_L,
    \mathbf{H}_H \mathbf{a}_H, \mathbf{H}_I \mathbf{a}_I]) \mathbf{M} / 3)`.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = _uniform(in_channels, _CHANNELS * out_channels, bound=out_channels**-0.5)
        self.judge = _uniform(_CHANNELS, out_channels, bound=1.0)
        self.mix = _uniform(_CHANNELS, _CHANNELS, bound=_CHANNELS**-0.5)

    def forward(self, x: LinearOperator | Tensor, a: CSR) -> Tensor:
        low, high, own = (x @ self.weight).chunk(_CHANNELS, dim=1)
        smooth_low, smooth_high = (a @ torch.cat([low, high], dim=1)).chunk(2, dim=1)
        channels = torch.stack([smooth_low, high - smooth_high, own], dim=1).relu()
        judged = (channels * self.judge).sum(dim=2).sigmoid()
        alpha = (judged @ self.mix / _CHANNELS).softmax(dim=1)
        return _CHANNELS * (alpha[:, :, None] * channels).sum(dim=1)


class ACMGCN(nn.Module):
    """Layers of channels, with ReLU and dropout between."""

    def __init__(self, in_channels: int, out_channels: int, settings: ACMSettings) -> None:
        super().__init__()
        sizes = [in_channels, *[settings.width] * (settings.layers - 1), out_channels]
        self.layers = nn.ModuleList(Channels(*size) for size in pairwise(sizes))
        self.dropout = settings.dropout

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        first, *others = self.layers
        h: Tensor = first(dropped(x, self.dropout, self.training), a)
        for layer in others:
            h = layer(dropout(h.relu(), self.dropout, self.training), a)
        return h


class ACMModel(Model[ACMSettings]):
    """Without the channel of the adjacency itself that ACM-GCN+ adds."""

    name, title, settings_class = "acm-gcn", "ACM-GCN", ACMSettings

    def prepare(self, graph: PreparedGraph, settings: ACMSettings) -> Inputs:
        a = graph.neighbours("rows", settings.edges, has_loops=True)
        return Inputs((graph.features(settings.normalize_features), a))

    def build(self, sizes: Sizes, settings: ACMSettings) -> ACMGCN:
        return ACMGCN(sizes.features, sizes.classes, settings)

    def candidates(self) -> list[ACMSettings]:
        """The default, with row-normalised features, which suits words, and with unchanged features, which suits
        numbers."""
        return [ACMSettings.make({"normalize_features": divided}) for divided in (True, False)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {"width": trial.suggest_categorical("width", (32, 64, 128))}

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "width"}
        return [ACMSettings.make({}).model_dump(include=names)]


def _uniform(rows: int, columns: int, bound: float) -> nn.Parameter:
    return nn.Parameter(torch.empty(rows, columns).uniform_(-bound, bound))


MODEL = ACMModel()
