"""SGC (Wu et al., 2019): a linear model on propagated features."""

from typing import TYPE_CHECKING, Any

import torch
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings, scaled
from ncgnn.models.mlp import Rows, known_nodes
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class SGCSettings(TrainingSettings):
    """The settings of SGC, by default those of its authors on Cora."""

    steps: int = Field(2, ge=0, le=100, description="propagation steps, K")
    lr: float = Field(0.2, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(1.303e-5, ge=0, le=100, description="weight decay")
    epochs: int = Field(100, ge=1, description="maximum number of epochs")


class SGCModel(Model[SGCSettings]):
    r""":math:`\mathbf{Y} = \tilde{\mathbf{A}}^K \mathbf{X} \mathbf{W} + \mathbf{b}`, where
    :math:`\tilde{\mathbf{A}}^K \mathbf{X}` is computed once, and the rest is a linear layer."""

    name, title, settings_class = "sgc", "SGC", SGCSettings
    takes_targets = False
    depth = "steps"

    def prepare(self, graph: PreparedGraph, settings: SGCSettings) -> Rows:
        x = propagated(graph, settings.steps, settings.normalize_features)
        return Rows((x,), x)

    def build(self, sizes: Sizes, settings: SGCSettings) -> nn.Linear:
        return nn.Linear(sizes.features, sizes.classes)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: SGCSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        """Train on training and validation nodes only: after propagation, nodes are independent."""
        assert isinstance(inputs, Rows)
        known = known_nodes(inputs.x, split)
        return super().fit(Inputs((known.x,)), known, settings, on_epoch, change)

    def candidates(self) -> list[SGCSettings]:
        """The published settings, and as many regularised, with row-normalised and unchanged features."""
        raw = {"normalize_features": False, "lr": 0.02}
        return [SGCSettings.make(values) for values in ({}, {"weight_decay": 1e-4}, raw, raw | {"weight_decay": 5e-3})]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return {
            "steps": trial.suggest_int("steps", 1, 5),
            "lr": scaled(trial, "lr", 1e-3, 0.5),
            "weight_decay": scaled(trial, "weight_decay", 1e-6, 1e-2),
            "normalize_features": trial.suggest_categorical("normalize_features", (False, True)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        point = self.published(graph).model_dump(include={"steps", "lr", "weight_decay", "normalize_features"})
        return [point | {"weight_decay": float(f"{point['weight_decay']:.2g}")}]  # as many digits as the space has


@torch.no_grad()
def propagated(graph: PreparedGraph, steps: int, normalize: bool) -> Tensor:
    r""":math:`\tilde{\mathbf{A}}^K \mathbf{X}` [N, f]."""
    x = graph.dense_features(normalize)
    for _ in range(steps):
        x = graph.adjacency @ x
    return x


MODEL = SGCModel()
