"""Classic graph convolutions as Luo et al. (2024) tune them: with residual connections, normalisation and dropout."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field
from torch import Tensor, nn

from ncgnn.models.base.layers import dropout, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class ClassicSettings(TrainingSettings):
    """The settings of a tuned classic, by default those of its authors for Cora."""

    layers: int = Field(3, ge=1, le=64, description="number of convolutions")
    width: int = Field(512, ge=1, le=4096, description="size of each convolution")
    dropout: float = Field(0.7, ge=0, lt=1, description="dropout rate after each convolution")
    residual: bool = Field(False, description="add a linear layer of its input to each convolution")
    norm: Literal["none", "batch", "layer"] = Field("none", description="normalisation after each convolution")
    lr: float = Field(0.001, gt=0, le=100, description="learning rate")
    epochs: int = Field(500, ge=1, description="maximum number of epochs")
    normalize_features: bool = Field(False, description="divide each feature row by its L1 norm")


class Classic(nn.Module):
    r"""Layers :math:`\mathbf{H}' = \mathrm{dropout}(\mathrm{ReLU}(\mathrm{norm}(\mathrm{conv}(\mathbf{H}) + \mathbf{H}
    \mathbf{W}_r + \mathbf{b}_r)))`, then a linear layer.

    :math:`\mathrm{conv}(\mathbf{H}) = \mathbf{A} \mathbf{H} \mathbf{W} + \mathbf{b}`, to which GraphSAGE adds the node
    itself, :math:`\mathbf{H} \mathbf{W}_s`. Without a residual connection, its term is left out.
    """

    def __init__(self, sizes: Sizes, settings: ClassicSettings, has_root: bool) -> None:
        super().__init__()
        inputs = [sizes.features, *[settings.width] * (settings.layers - 1)]
        width, self.dropout = settings.width, settings.dropout
        self.convs = nn.ModuleList(nn.Linear(size, width) for size in inputs)
        self.roots = nn.ModuleList(nn.Linear(size, width, bias=False) for size in inputs if has_root)
        self.residuals = nn.ModuleList(nn.Linear(size, width) for size in inputs if settings.residual)
        self.norms = nn.ModuleList(_NORMS[settings.norm](width) for _ in inputs)
        self.last = nn.Linear(width, sizes.classes)

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        h: LinearOperator | Tensor = x
        for number, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            out = _convolved(a, h, conv)
            for layers in (self.roots, self.residuals):
                if layers:
                    out = out + linear(h, layers[number])
            h = dropout(norm(out).relu(), self.dropout, self.training)
        return linear(h, self.last)


class ClassicModel(Model[ClassicSettings]):
    """A convolution with the tricks that Luo et al. tune."""

    is_mean: ClassVar[bool] = False
    """GraphSAGE: the mean over a node and its neighbours, and the node itself once more; GCN: divided by degrees."""

    def prepare(self, graph: PreparedGraph, settings: ClassicSettings) -> Inputs:
        a = graph.neighbours("rows", has_loops=True) if self.is_mean else graph.adjacency
        return Inputs((graph.features(settings.normalize_features), a))

    def build(self, sizes: Sizes, settings: ClassicSettings) -> Classic:
        return Classic(sizes, settings, has_root=self.is_mean)

    def candidates(self) -> list[ClassicSettings]:
        """The default, which suits few labels, and what the authors add with many."""
        full = {"residual": True, "norm": "batch", "dropout": 0.5, "weight_decay": 0.0}
        return [self.settings_class.make(values) for values in ({}, full)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "layers": trial.suggest_int("layers", 1, 5),
            "width": trial.suggest_categorical("width", (64, 256, 512)),
            "residual": trial.suggest_categorical("residual", (False, True)),
            "norm": trial.suggest_categorical("norm", ("none", "batch", "layer")),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "layers", "width", "residual", "norm"}
        return [self.settings_class.make({}).model_dump(include=names)]


_NORMS: dict[str, type[nn.Module]] = {"none": nn.Identity, "batch": nn.BatchNorm1d, "layer": nn.LayerNorm}


def _convolved(a: CSR, h: LinearOperator | Tensor, conv: nn.Module) -> Tensor:
    assert isinstance(conv, nn.Linear)
    return a @ (h @ conv.weight.t()) + conv.bias
