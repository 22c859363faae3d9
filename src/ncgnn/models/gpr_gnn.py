"""GPR-GNN (Chien et al., 2021): predict, then propagate with a learned weight for each number of steps."""

from typing import TYPE_CHECKING, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from ncgnn.models.base.layers import dropout, dropped, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings, stepped
from ncgnn.sparse import CSR, LinearOperator, Polynomial
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class GPRSettings(TrainingSettings):
    """The settings of GPR-GNN, by default those of its authors on Cora and Citeseer."""

    width: int = Field(64, ge=1, le=4096, description="size of the hidden layer")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    score_dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the scores before they propagate")
    steps: int = Field(10, ge=1, le=1000, description="propagation steps, K")
    alpha: float = Field(0.1, ge=0, le=1, description="teleport probability of the PageRank that weights start from")
    patience: int = Field(200, ge=1, description="epochs without improvement on validation before stopping")


class GPRGNN(nn.Module):
    r""":math:`\sum_{k=0}^{K} \gamma_k \tilde{\mathbf{A}}^k \mathbf{H}`, where :math:`\mathbf{H}` are the scores of an
    MLP and :math:`\gamma` is learned, starting from :math:`\gamma_k = \alpha (1 - \alpha)^k`,
    :math:`\gamma_K = (1 - \alpha)^K`."""

    def __init__(self, in_channels: int, out_channels: int, settings: GPRSettings) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, settings.width)
        self.second = nn.Linear(settings.width, out_channels)
        alpha, steps = settings.alpha, settings.steps
        self.gamma = nn.Parameter(
            torch.tensor([alpha * (1 - alpha) ** k for k in range(steps)] + [(1 - alpha) ** steps])
        )
        self.dropout, self.score_dropout = settings.dropout, settings.score_dropout

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        hidden = linear(dropped(x, self.dropout, self.training), self.first).relu()
        scores: Tensor = self.second(dropout(hidden, self.dropout, self.training))
        return Polynomial(a, self.gamma) @ dropout(scores, self.score_dropout, self.training)


class GPRModel(Model[GPRSettings]):
    """The weights of steps do not decay, as in the published code."""

    name, title, settings_class = "gpr-gnn", "GPR-GNN", GPRSettings

    def prepare(self, graph: PreparedGraph, settings: GPRSettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.adjacency))

    def build(self, sizes: Sizes, settings: GPRSettings) -> GPRGNN:
        return GPRGNN(sizes.features, sizes.classes, settings)

    def training(self, module: nn.Module, settings: GPRSettings) -> Training:
        assert isinstance(module, GPRGNN)
        layers = [*module.first.parameters(), *module.second.parameters()]
        groups = [
            {"params": layers, "weight_decay": settings.weight_decay},
            {"params": [module.gamma], "weight_decay": 0.0},
        ]
        return Training(CrossEntropy(), adam(groups, settings.lr), Patience(settings.patience), settings.epochs)

    def candidates(self) -> list[GPRSettings]:
        """The default, unchanged features, and less regularisation with weights that start from the node itself, which
        suits graphs whose neighbours differ."""
        weak, raw = {"alpha": 0.9, "lr": 0.05, "weight_decay": 5e-5}, {"normalize_features": False}
        return [GPRSettings.make(values) for values in ({}, raw, weak, raw | weak)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "alpha": trial.suggest_categorical("alpha", (0.1, 0.2, 0.5, 0.9)),
            "score_dropout": stepped(trial, "score_dropout", 0.0, 0.9, 0.1),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "alpha", "score_dropout"}
        return [GPRSettings.make({}).model_dump(include=names)]


MODEL = GPRModel()
