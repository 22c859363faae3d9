"""Simpler models, each with what it knows of a graph."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch_geometric.data import Data

from ncgnn.baselines import Settings, fit, published_gcn, published_mlp
from ncgnn.compare.boosting import boost
from ncgnn.compare.propagation import propagate

Knows = Literal["features", "graph", "both"]


@dataclass(frozen=True)
class Rival:
    """A model that predicts the class of each node [N] of a graph with a split, given a seed."""

    name: str
    knows: Knows
    predict: Callable[[Data, int], np.ndarray]


def _mlp(data: Data, seed: int) -> np.ndarray:
    return _better(data, published_mlp(), seed)


def _gcn(data: Data, seed: int) -> np.ndarray:
    return _better(data, published_gcn(""), seed)  # the wider of the two published ones, which suits any graph


def _better(data: Data, settings: Settings, seed: int) -> np.ndarray:
    """With rows of features divided by their sums, which suits words, and without, which suits numbers: what does
    better on the validation nodes."""
    fits = [
        fit(data, settings.model_copy(update={"normalize_features": divided, "seed": seed}))
        for divided in (True, False)
    ]
    best = max(fits, key=lambda one: one.best.val_accuracy)
    classes: np.ndarray = best.scores.argmax(dim=1).numpy()
    return classes


RIVALS = (
    Rival("label propagation", "graph", propagate),
    Rival("gradient boosting", "features", boost),
    Rival("MLP", "features", _mlp),
    Rival("GCN", "both", _gcn),
)
