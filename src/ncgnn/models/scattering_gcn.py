"""Scattering GCN (Min et al., 2020): low-pass channels beside band-pass channels of diffusion wavelets."""

from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.init import xavier_uniform_
from torch.optim import Optimizer
from torch_geometric.data import Data

from ncgnn.models.base.layers import dropout
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.optimiser import steps_taken

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class ScatteringSettings(TrainingSettings):
    """The settings of Scattering GCN, by default those of its authors on Cora. Their penalty on absolute weights is
    left out: in their code it only reaches the last bias."""

    low: int = Field(10, ge=1, le=1024, description="channels of each of the three low-pass filters")
    first: int = Field(1, ge=0, le=8, description="scale j of the first wavelet, which reaches 2^j hops")
    first_width: int = Field(13, ge=1, le=1024, description="channels of the first wavelet")
    second: int = Field(3, ge=0, le=8, description="scale j of the second wavelet, which reaches 2^j hops")
    second_width: int = Field(25, ge=1, le=1024, description="channels of the second wavelet")
    exponent: float = Field(4.0, gt=0, le=16, description="exponent q of the absolute value")
    smoothing: float = Field(0.5, ge=0, le=100, description="weight a of neighbours in the residual layer")
    dropout: float = Field(0.9, ge=0, lt=1, description="dropout rate on the input of the residual layer")
    lr: float = Field(0.005, gt=0, le=100, description="learning rate, which falls by a tenth every 50 epochs")
    weight_decay: float = Field(0.0, ge=0, le=100, description="weight decay")
    epochs: int = Field(200, ge=1, description="maximum number of epochs")


class ScatteringGCN(nn.Module):
    r"""Five channels of :math:`\mathbf{U} = \mathbf{X} \mathbf{W}`, each with columns of its own:
    :math:`\tilde{\mathbf{A}} \mathbf{U}`, :math:`\tilde{\mathbf{A}}^2 \mathbf{U}`, :math:`\tilde{\mathbf{A}}^3
    \mathbf{U}` and two of :math:`\Psi_j \mathbf{U}` with :math:`\Psi_j = \mathbf{P}^{2^{j-1}} - \mathbf{P}^{2^j}`,
    :math:`\Psi_0 = \mathbf{I} - \mathbf{P}` and :math:`\mathbf{P} = \frac{1}{2} (\mathbf{I} + \mathbf{A}
    \mathbf{D}^{-1})`. Side by side they are :math:`\mathbf{V}`; then :math:`\mathbf{H} = |\mathbf{V} + \mathbf{b}|^q`
    and :math:`\mathbf{Y} = \frac{1}{1 + a} (\mathbf{I} + a \mathbf{A} \mathbf{D}^{-1}) \mathbf{H} \mathbf{W}' +
    \mathbf{b}'`."""

    def __init__(self, in_channels: int, out_channels: int, settings: ScatteringSettings) -> None:
        super().__init__()
        self.widths = [*[settings.low] * 3, settings.first_width, settings.second_width]
        parts = [xavier_uniform_(torch.empty(in_channels, width)) for width in self.widths]
        self.weight = nn.Parameter(torch.cat(parts, dim=1))
        self.bias = nn.Parameter(torch.cat([_uniform(width, width=width) for width in self.widths]))
        self.last = nn.Parameter(_uniform(sum(self.widths), out_channels, width=out_channels))
        self.last_bias = nn.Parameter(_uniform(out_channels, width=out_channels))
        self.scales = settings.first, settings.second
        self.exponent, self.smoothing, self.dropout = settings.exponent, settings.smoothing, settings.dropout

    def forward(self, x: LinearOperator, a: CSR, walk: CSR) -> Tensor:
        channels = [channel.contiguous() for channel in (x @ self.weight).split(self.widths, dim=1)]
        for power in range(3):
            for channel in range(power, 3):
                channels[channel] = a @ channels[channel]
        channels[3:] = [wavelet(u, walk, j) for u, j in zip(channels[3:], self.scales, strict=True)]
        h = (torch.cat(channels, dim=1) + self.bias).abs().pow(self.exponent)
        y = dropout(h, self.dropout, self.training) @ self.last
        return (y + self.smoothing * (walk @ y)) / (1 + self.smoothing) + self.last_bias


def _uniform(*shape: int, width: int) -> Tensor:
    """As the authors initialise biases and the last layer."""
    return torch.empty(*shape).uniform_(-(width**-0.5), width**-0.5)


def wavelet(u: Tensor, walk: CSR, scale: int) -> Tensor:
    r""":math:`\Psi_j \mathbf{U}`."""
    half = u
    for step in range(1, 2**scale + 1):
        u = (u + walk @ u) / 2
        half = u if 2 * step == 2**scale else half
    return half - u


class ScatteringModel(Model[ScatteringSettings]):
    """Edges without their weights."""

    name, title, settings_class = "scattering-gcn", "Scattering GCN", ScatteringSettings

    def prepare(self, graph: PreparedGraph, settings: ScatteringSettings) -> Inputs:
        walk = graph.of_edges("random walk", random_walk)
        return Inputs((graph.features(settings.normalize_features), graph.adjacency, walk))

    def build(self, sizes: Sizes, settings: ScatteringSettings) -> ScatteringGCN:
        return ScatteringGCN(sizes.features, sizes.classes, settings)

    def training(self, module: nn.Module, settings: ScatteringSettings) -> Training:
        how = super().training(module, settings)
        how.optimizer.register_step_post_hook(_fall)
        return how

    def candidates(self) -> list[ScatteringSettings]:
        """The published settings, and less dropout with a lower exponent, also with unchanged features."""
        weak = {"dropout": 0.5, "exponent": 1.0, "weight_decay": 5e-4}
        return [ScatteringSettings.make(values) for values in ({}, weak, weak | {"normalize_features": False})]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "normalize_features": True,  # unchanged features diverge with the exponent
            "second": trial.suggest_int("second", 2, 5),
            "exponent": trial.suggest_categorical("exponent", (1.0, 2.0, 4.0)),
            "smoothing": trial.suggest_categorical("smoothing", (0.1, 0.5, 1.0)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "normalize_features", "dropout", "second", "exponent", "smoothing"}
        return [self.published(graph).model_dump(include=names) | {"weight_decay": 1e-5}]  # the least in the space


def _fall(optimizer: Optimizer, *_: object) -> None:
    """Lower the learning rate after every 50 steps."""
    if steps_taken(optimizer) % 50 == 0:
        for group in optimizer.param_groups:
            group["lr"] *= 0.9


def random_walk(data: Data) -> CSR:
    r""":math:`\mathbf{A} \mathbf{D}^{-1}`: each column sums to one."""
    a = sp.csc_matrix(plain_adjacency(data) != 0, dtype=float)
    degrees = a.sum(axis=0).A1
    degrees[degrees == 0] = 1
    return CSR.from_scipy(sp.csr_matrix(a @ sp.diags_array(1 / degrees)), torch.get_default_dtype())


MODEL = ScatteringModel()
