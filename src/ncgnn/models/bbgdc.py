"""BBGDC (Hasanzadeh et al., 2020): a GCN whose edges drop out at rates that are learned."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import scipy.sparse as sp
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer
from torch_geometric.data import Data

from ncgnn.models.base.layers import GraphConvolution
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy, Extension, Forward
from ncgnn.train.optimiser import adam, steps_taken
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

_TEMPERATURE = 0.67
_PRIOR = 0.8  # alpha of the authors
_WARM_UP = 20  # epochs
_EULER = 0.577215664901532


class BBGDCSettings(TrainingSettings):
    """The settings of BBGDC, by default those of its authors on Cora."""

    layers: int = Field(4, ge=1, le=64, description="number of layers, the last one linear")
    width: int = Field(128, ge=1, le=4096, description="size of all layers but the last")
    blocks: int = Field(2, ge=1, le=64, description="blocks of columns with masks of their own, after the first layer")
    lr: float = Field(0.005, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(
        5e-3, ge=0, le=100, description="penalty on squared weights of a layer, times the rate at which it drops edges"
    )
    epochs: int = Field(2000, ge=1, description="maximum number of epochs")
    normalize_features: bool = Field(False, description="divide each feature row by its L1 norm")


class BBGDC(nn.Module):
    r""":math:`\mathbf{H}_{l+1} = \sigma(\sum_b (\hat{\mathbf{A}} \odot \mathbf{Z}_{l,b}) \mathbf{H}_l^{(b)}
    \mathbf{W}_{l,b} + \mathbf{b}_{l,b})` with :math:`\hat{\mathbf{A}} = \mathbf{D}^{-1} (\mathbf{A} + \mathbf{I})`,
    blocks b of columns, and a mask for each, :math:`\mathbf{Z}_{l,b} \sim \mathrm{RelaxedBernoulli}(\pi_l)` with
    :math:`\pi_l \sim \mathrm{Kumaraswamy}(a_l, b_l)`.

    A mask has a number for each entry of :math:`\hat{\mathbf{A}}`, none for other pairs of nodes. Prediction uses the
    mean of :math:`\pi_l` instead of samples, so it is repeatable; the authors let 20 samples vote.

    Attributes:
        kept: :math:`\pi_l` [layers] of the last pass, the share of edges that each layer keeps.
    """

    def __init__(self, in_channels: int, out_channels: int, settings: BBGDCSettings) -> None:
        super().__init__()
        layers, width, blocks = settings.layers, settings.width, settings.blocks
        if width % blocks:
            raise ValueError(f"width {width} cannot be divided into {blocks} blocks")
        widths = [*[width] * (layers - 1), out_channels]
        convolutions = [[GraphConvolution(in_channels, widths[0])]]
        convolutions += [[GraphConvolution(width // blocks, out) for _ in range(blocks)] for out in widths[1:]]
        self.layers = nn.ModuleList(nn.ModuleList(parts) for parts in convolutions)
        self.raw_a = nn.Parameter(torch.empty(layers).uniform_(1.0, 1.5))
        self.raw_b = nn.Parameter(torch.empty(layers).uniform_(0.49, 0.51))
        for convolution in (one for parts in convolutions for one in parts):
            bound = convolution.weight.shape[1] ** -0.5
            nn.init.normal_(convolution.weight, std=bound)
            nn.init.uniform_(convolution.bias, -bound, bound)

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        self.kept = self._drawn() if self.training else self.expected()
        first, *others = (cast(nn.ModuleList, layer) for layer in self.layers)
        h: Tensor = first[0](x, self._masked(a, self.kept[0]))
        for kept, layer in zip(self.kept[1:], others, strict=True):
            parts = h.relu().chunk(len(layer), dim=1)
            h = torch.stack([block(part, self._masked(a, kept)) for block, part in zip(layer, parts, strict=True)]).sum(
                0
            )
        return h

    @property
    def shapes(self) -> tuple[Tensor, Tensor]:
        """a and b [layers] of the Kumaraswamy distributions."""
        return F.softplus(self.raw_a), F.softplus(self.raw_b)

    def _drawn(self) -> Tensor:
        a, b = self.shapes
        u = torch.rand_like(a).clamp(1e-6, 1 - 1e-6)
        return (1 - u.pow(1 / b)).pow(1 / a)

    def expected(self) -> Tensor:
        """The means of the Kumaraswamy distributions [layers]."""
        a, b = self.shapes
        return b * (torch.lgamma(1 + 1 / a) + torch.lgamma(b) - torch.lgamma(1 + 1 / a + b)).exp()

    def _masked(self, a: CSR, kept: Tensor) -> CSR:
        if not self.training:
            return CSR(a.pattern, a.values * kept)
        u = torch.rand_like(a.values).clamp(1e-6, 1 - 1e-6)
        return CSR(a.pattern, a.values * ((u.logit() + kept.clamp(1e-6, 1 - 1e-6).logit()) / _TEMPERATURE).sigmoid())

    def divergence(self) -> Tensor:
        """Of the Kumaraswamy distributions from their prior."""
        a, b = self.shapes
        of_a = (1 - _PRIOR / a) * (-_EULER - torch.digamma(b) - 1 / b)
        return (of_a + (a * b + 1e-10).log() - math.log(_PRIOR) - (b - 1) / b).sum()

    def penalty(self) -> Tensor:
        """Squared weights of each layer, times the rate at which it dropped edges in the last pass."""
        squares = [torch.stack([weight.square().sum() for weight in layer.parameters()]).sum() for layer in self.layers]
        return ((1 - self.kept) * torch.stack(squares)).sum()


@dataclass(frozen=True)
class Variational(Extension):
    """An objective with the divergence, whose weight grows over the first epochs, and the penalty."""

    module: BBGDC
    decay: float
    optimizer: Optimizer

    def loss(self, forward: Forward, inputs: Inputs, split: Data) -> Tensor:
        share = min(1.0, (steps_taken(self.optimizer) + 1) / _WARM_UP)
        of_scores = self.base.loss(forward, inputs, split)
        return of_scores + share * self.module.divergence() + self.decay * self.module.penalty()


class BBGDCModel(Model[BBGDCSettings]):
    """Edges without their weights."""

    name, title, settings_class = "bbgdc", "BBGDC", BBGDCSettings
    takes_targets = False
    depth = "layers"

    def prepare(self, graph: PreparedGraph, settings: BBGDCSettings) -> Inputs:
        a = graph.of_edges("rows of neighbours and itself", rows_with_loops)
        return Inputs((graph.features(settings.normalize_features), a))

    def build(self, sizes: Sizes, settings: BBGDCSettings) -> BBGDC:
        return BBGDC(sizes.features, sizes.classes, settings)

    def training(self, module: nn.Module, settings: BBGDCSettings) -> Training:
        optimizer = adam([{"params": list(module.parameters())}], settings.lr)
        objective = Variational(CrossEntropy(), cast(BBGDC, module), settings.weight_decay, optimizer)
        return Training(objective, optimizer, Patience(settings.patience), settings.epochs)

    def candidates(self) -> list[BBGDCSettings]:
        """The published settings with four and two layers, and with row-normalised features."""
        found: tuple[dict[str, Any], ...] = ({}, {"layers": 2}, {"layers": 2, "normalize_features": True})
        return [BBGDCSettings.make(values) for values in found]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "layers": trial.suggest_int("layers", 2, 4),
            "width": trial.suggest_categorical("width", (32, 64, 128)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "layers", "width"}
        return [self.published(graph).model_dump(include=names)]


def rows_with_loops(data: Data) -> CSR:
    r""":math:`\mathbf{D}^{-1} (\mathbf{A} + \mathbf{I})`: each row sums to one."""
    a = sp.csr_array(plain_adjacency(data) != 0, dtype=float) + sp.eye_array(int(data.num_nodes or 0))
    return CSR.from_scipy(sp.csr_matrix(sp.diags_array(1 / a.sum(axis=1)) @ a), torch.get_default_dtype())


MODEL = BBGDCModel()
