"""FSGNN (Maurya et al., 2021): features of several hops, each through its own layer, weighted and joined."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.models.base.chosen_edges import ALL
from ncgnn.models.base.layers import dropout, linear
from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.models.mlp import known_nodes
from ncgnn.sparse import CSR, Dense, LinearOperator, cheaper_operator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class FSGNNSettings(TrainingSettings):
    """The settings of FSGNN, by default those of its authors' code."""

    hops: int = Field(3, ge=1, le=32, description="number of hops")
    width: int = Field(64, ge=1, le=4096, description="size of the layer of each hop")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the joined features")
    lr: float = Field(0.02, gt=0, le=100, description="learning rate of the layers")
    weight_decay: float = Field(5e-4, ge=0, le=100, description="weight decay of the layers of the hops")
    last_decay: float = Field(5e-4, ge=0, le=100, description="weight decay of the last layer")
    hop_lr: float = Field(0.02, gt=0, le=100, description="learning rate of the weights of the hops")
    hop_decay: float = Field(5e-4, ge=0, le=100, description="weight decay of the weights of the hops")
    normalize_hops: bool = Field(True, description="divide each node's features of a hop by their length")
    edges: str = Field(ALL, description="the edges that are used: all, in, out, or an edge table")
    epochs: int = Field(1500, ge=1, description="maximum number of epochs")


class FSGNN(nn.Module):
    r""":math:`\mathrm{ReLU}(\Vert_i \, \alpha_i \, \mathrm{norm}(\mathbf{X}_i \mathbf{W}_i + \mathbf{b}_i)) \mathbf{W}
    + \mathbf{b}` over the parts :math:`\mathbf{X}, \bar{\mathbf{A}}^k \mathbf{X}, \tilde{\mathbf{A}}^k \mathbf{X}`,
    with :math:`k = 1 \dots K` and :math:`\bar{\mathbf{A}}` without self-loops; :math:`\alpha` is a softmax of learned
    weights and *norm* divides rows by their length."""

    def __init__(self, in_channels: int, out_channels: int, settings: FSGNNSettings) -> None:
        super().__init__()
        count = 2 * settings.hops + 1
        self.layers = nn.ModuleList(nn.Linear(in_channels, settings.width) for _ in range(count))
        self.hop_weights = nn.Parameter(torch.ones(count))
        self.last = nn.Linear(count * settings.width, out_channels)
        self.dropout, self.normalize_hops = settings.dropout, settings.normalize_hops

    def forward(self, *parts: LinearOperator) -> Tensor:
        alpha = self.hop_weights.softmax(dim=0)
        found = [linear(x, layer) for x, layer in zip(parts, self.layers, strict=True)]
        found = [F.normalize(h) for h in found] if self.normalize_hops else found
        joined = torch.cat([weight * h for weight, h in zip(alpha, found, strict=True)], dim=1).relu()
        out: Tensor = self.last(dropout(joined, self.dropout, self.training))
        return out


@dataclass(frozen=True)
class Parts(Inputs):
    """The features of all hops as operators, and the features themselves."""

    x: Tensor

    def of(self, nodes: Tensor) -> Inputs:
        """The parts of some nodes."""
        return Inputs(tuple(_rows(part, nodes) for part in self.arguments))


class FSGNNModel(Model[FSGNNSettings]):
    """The features of all hops are computed once, before the training."""

    name, title, settings_class = "fsgnn", "FSGNN", FSGNNSettings
    takes_targets = False

    def prepare(self, graph: PreparedGraph, settings: FSGNNSettings) -> Parts:
        divided = settings.normalize_features
        parts = [graph.features(divided)]
        for has_loops in (False, True):
            a, x = graph.neighbours("degrees", settings.edges, has_loops), graph.dense_features(divided)
            for _ in range(settings.hops):
                x = a @ x
                parts.append(cheaper_operator(x))
        return Parts(tuple(parts), graph.x(divided))

    def build(self, sizes: Sizes, settings: FSGNNSettings) -> FSGNN:
        return FSGNN(sizes.features, sizes.classes, settings)

    def training(self, module: nn.Module, settings: FSGNNSettings) -> Training:
        assert isinstance(module, FSGNN)
        groups = [
            {"params": list(module.last.parameters()), "weight_decay": settings.last_decay},
            {"params": list(module.layers.parameters()), "weight_decay": settings.weight_decay},
            {"params": [module.hop_weights], "weight_decay": settings.hop_decay, "lr": settings.hop_lr},
        ]
        return Training(CrossEntropy(), adam(groups, settings.lr), Patience(settings.patience), settings.epochs)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: FSGNNSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        """Train on training and validation nodes only: once the hops are computed, nodes are independent."""
        assert isinstance(inputs, Parts)
        nodes = (split.train_mask | split.val_mask).nonzero().squeeze(1)
        return super().fit(inputs.of(nodes), known_nodes(inputs.x, split), settings, on_epoch, change)

    def candidates(self) -> list[FSGNNSettings]:
        """The default, with row-normalised features, which suits words, and with unchanged features, which suits
        numbers."""
        return [FSGNNSettings.make({"normalize_features": divided}) for divided in (True, False)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "hops": trial.suggest_categorical("hops", (3, 8)),
            "last_decay": trial.suggest_categorical("last_decay", (0.0, 1e-4, 1e-3)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "hops"}
        return [FSGNNSettings.make({}).model_dump(include=names) | {"last_decay": 1e-4}]


def _rows(x: LinearOperator, nodes: Tensor) -> LinearOperator:
    if not isinstance(x, CSR):
        return Dense(x.parameter[nodes])
    parts = (x.values.numpy(), x.pattern.indices.numpy(), x.pattern.indptr.numpy())
    return CSR.from_scipy(sp.csr_matrix(parts, shape=x.shape)[nodes.numpy()], x.values.dtype)


MODEL = FSGNNModel()
