"""JK-Net (Xu et al., 2018): a GCN whose last layer sees the outputs of all others."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from torch import Tensor, nn
from torch_geometric.nn import JumpingKnowledge

from ncgnn.models.base.layers import GraphConvolution, dropout, dropped
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class JKNetSettings(TrainingSettings):
    """The settings of JK-Net, by default those of a public implementation for Cora; the authors published none."""

    layers: int = Field(6, ge=1, le=64, description="number of convolutions")
    width: int = Field(16, ge=1, le=4096, description="size of each layer")
    mode: Literal["cat", "max", "lstm"] = Field("max", description="how the outputs of the layers are joined")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    lr: float = Field(0.005, gt=0, le=100, description="learning rate")
    normalize_features: bool = Field(False, description="divide each feature row by its L1 norm")


class JKNet(nn.Module):
    r""":math:`\mathbf{H}_l = \mathrm{ReLU}(\tilde{\mathbf{A}} \mathbf{H}_{l-1} \mathbf{W}_l + \mathbf{b}_l)` and
    :math:`\mathbf{Y} = \mathrm{JK}(\mathbf{H}_1, \dots, \mathbf{H}_L) \mathbf{W} + \mathbf{b}`, where JK concatenates,
    takes the largest of each entry, or a mean weighted by the attention of an LSTM."""

    def __init__(self, in_channels: int, out_channels: int, settings: JKNetSettings) -> None:
        super().__init__()
        width, layers = settings.width, settings.layers
        sizes = [in_channels, *[width] * (layers - 1)]
        self.layers = nn.ModuleList(GraphConvolution(size, width) for size in sizes)
        self.jump = JumpingKnowledge(settings.mode, width, layers)
        self.last = nn.Linear(width * layers if settings.mode == "cat" else width, out_channels)
        self.dropout = settings.dropout

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        first, *others = self.layers
        found = [first(dropped(x, self.dropout, self.training), a).relu()]
        for layer in others:
            found.append(layer(dropout(found[-1], self.dropout, self.training), a).relu())
        out: Tensor = self.last(self.jump(found))
        return out


class JKNetModel(Model[JKNetSettings]):
    """Joined by the maximum by default."""

    name, title, settings_class = "jk-net", "JK-Net", JKNetSettings
    depth = "layers"

    def prepare(self, graph: PreparedGraph, settings: JKNetSettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.adjacency))

    def build(self, sizes: Sizes, settings: JKNetSettings) -> JKNet:
        return JKNet(sizes.features, sizes.classes, settings)

    def candidates(self) -> list[JKNetSettings]:
        """The default, fewer and wider layers, and the latter with row-normalised features."""
        wide = {"layers": 2, "width": 64, "mode": "cat"}
        return [JKNetSettings.make(values) for values in ({}, wide, wide | {"normalize_features": True})]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "layers": trial.suggest_int("layers", 2, 6),
            "width": trial.suggest_categorical("width", (16, 32, 64)),
            "mode": trial.suggest_categorical("mode", ("cat", "max")),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "layers", "width", "mode"}
        return [self.published(graph).model_dump(include=names)]


MODEL = JKNetModel()
