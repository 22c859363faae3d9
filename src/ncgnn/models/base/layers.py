"""GCN and MLP: the same layers, with and without the graph."""

from dataclasses import replace
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch.nn.init import xavier_uniform_

from ncgnn.models.base.settings import RunSettings, Seed
from ncgnn.sparse import LinearOperator, thinned
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience, Stopping, Window

Count = Annotated[int, Field(ge=1)]


class LayerSettings(RunSettings):
    """All settings of a run of a GCN or an MLP."""

    identity: ClassVar[str] = "Settings"
    # fmt: off
    always_counted: ClassVar[frozenset[str]] = frozenset({  # the fields of the first release
        "model", "layers", "width", "dropout", "lr", "weight_decay", "decay", "epochs", "stop", "patience",
        "normalize_features",
    })
    # fmt: on

    model: str
    layers: Annotated[int, Field(ge=1, le=64)] = Field(2, description="number of layers, the last one linear")
    width: Annotated[int, Field(ge=1, le=4096)] = Field(64, description="size of all layers but the last")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    lr: float = Field(0.01, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(5e-4, ge=0, le=100, description="weight decay of the layers that decay names")
    decay: Literal["first", "all"] = Field("all", description="which layers have weight decay")
    epochs: Count = Field(1000, description="maximum number of epochs")
    stop: Literal["window", "patience"] = Field(
        "patience",
        description="window: stop when the validation loss exceeds its mean over the last epochs, keep the last"
        " weights; patience: stop after this many epochs without improvement, keep the best weights",
    )
    patience: Count = Field(100, description="epochs in the window, or without improvement")
    averaging: float = Field(
        0.0, ge=0, lt=1, description="decay of the moving average of the weights that is validated and kept"
    )
    normalize_features: bool = Field(True, description="divide each feature row by its L1 norm")
    seed: Seed = 0

    @property
    def stopping(self) -> Stopping:
        return (Window if self.stop == "window" else Patience)(self.patience)


def layer_training(module: nn.Module, settings: LayerSettings) -> Training:
    """Cross-entropy, plain Adam, and the stopping rule of the settings."""
    assert isinstance(module, LayerStack)
    first, *others = module.weights
    rest = settings.weight_decay if settings.decay == "all" else 0.0
    groups = [
        {"params": [first], "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": rest},
    ]
    how = Training(CrossEntropy(), adam(groups, settings.lr), settings.stopping, settings.epochs)
    return replace(how, averaging=settings.averaging)


class GraphConvolution(nn.Module):
    r""":math:`\tilde{\mathbf{A}} \mathbf{H} \mathbf{W} + \mathbf{b}` for dense or sparse :math:`\mathbf{H}`."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = xavier_uniform_(_empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, h: Tensor | LinearOperator, a: LinearOperator) -> Tensor:
        return a @ (h @ self.weight) + self.bias


def linear(x: LinearOperator | Tensor, layer: nn.Module) -> Tensor:
    """A linear layer of features that may be sparse."""
    assert isinstance(layer, nn.Linear)
    out = x @ layer.weight.t()
    return out if layer.bias is None else out + layer.bias


def dropped(x: LinearOperator, rate: float, training: bool) -> LinearOperator:
    """Dropout on features that may be sparse."""
    return thinned(x, rate) if training and rate else x


def dropout(h: Tensor, rate: float, training: bool) -> Tensor:
    """Dropout; comparing uniform numbers takes a third of the time of torch's."""
    if not training or not rate:
        return h
    return h * (torch.rand_like(h) >= rate).to(h.dtype).div_(1 - rate)


class LayerStack(nn.Module):
    r"""Layers :math:`\mathbf{H}' = \mathrm{ReLU}(\tilde{\mathbf{A}} \mathbf{H} \mathbf{W})`, the last one linear, with
    dropout on the input of each: a GCN (Kipf and Welling, 2017). Without :math:`\tilde{\mathbf{A}}` it is an MLP.

    There are no biases, as in the published code of both.

    Args:
        in_channels: number of features.
        out_channels: number of classes.
        layers: number of layers, at least one.
        width: size of all layers except the last.
        dropout: probability of dropping an entry of a layer's input in training.

    Shapes:
        - **input:** features [N, f] as an operator; :math:`\tilde{\mathbf{A}}` [N, N], or None for an MLP
        - **output:** class scores [N, C], before the softmax
    """

    def __init__(self, in_channels: int, out_channels: int, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        sizes = [in_channels, *[width] * (layers - 1), out_channels]
        self.weights = nn.ParameterList(xavier_uniform_(_empty(*size)) for size in pairwise(sizes))
        self.dropout = dropout

    def forward(self, x: LinearOperator, a: LinearOperator | None = None) -> Tensor:
        first, *others = self.weights
        h = _propagate(a, (thinned(x, self.dropout) if self.training else x) @ first)
        for weight in others:
            h = _propagate(a, F.dropout(h.relu(), self.dropout, self.training) @ weight)
        return h


def _propagate(a: LinearOperator | None, h: Tensor) -> Tensor:
    return h if a is None else a @ h


def _empty(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(rows, columns))
