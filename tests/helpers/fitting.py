"""A model of the registry trained on a graph, and what it says of the nodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.models import Model, PreparedGraph, RunSettings
from ncgnn.train import Epoch
from ncgnn.train.loop import class_scores


@dataclass(frozen=True)
class Outcome:
    module: nn.Module
    best: Epoch
    history: list[Epoch]
    scores: Tensor

    @property
    def predicted(self) -> np.ndarray:
        """The number of each node's class."""
        return self.scores.argmax(dim=1).numpy()


def fit(model: Model[Any], data: Data, settings: RunSettings) -> Outcome:
    graph = PreparedGraph.of(data)
    inputs = model.prepare(graph, settings)
    fitted = model.fit(inputs, graph.data, settings)
    return Outcome(fitted.module, fitted.best, fitted.history, class_scores(fitted.module, inputs))
