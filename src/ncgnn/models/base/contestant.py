"""A model on a graph, ready to train a step or to predict."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from ncgnn.models import Model, PreparedGraph, RunSettings, Sizes, all_models, find_model
from ncgnn.train.loop import class_scores, step
from ncgnn.train.reproducible import seeded


@dataclass(frozen=True)
class Contestant:
    """``step`` is forward, loss, backward and optimiser; ``predict`` the scores of all nodes without a gradient."""

    step: Callable[[], object]
    predict: Callable[[], Tensor]


def measured_models() -> list[str]:
    """The models that are measured unless told otherwise."""
    places = {model.name: model.measured for model in all_models() if model.measured is not None}
    return sorted(places, key=places.__getitem__)


def enter(name: str, data: Data, config: RunSettings) -> Contestant:
    """The named model on a complete graph with a split; ``config`` counts if it is of the model's kind."""
    model = find_model(name)
    settings = config if isinstance(config, model.settings_class) else _plain_settings(model)
    inputs = model.prepare(PreparedGraph(data), settings)
    with seeded(settings.seed):
        module = model.build(Sizes.of(data), settings)
        how = model.training(module, settings)
    return Contestant(
        step=lambda: step(module, inputs, data, how),
        predict=lambda: class_scores(module, inputs),
    )


def _plain_settings(model: Model[Any]) -> RunSettings:
    """The defaults, with features as they are."""
    as_they_are = {"normalize_features": False} if "normalize_features" in model.settings_class.model_fields else {}
    made: RunSettings = model.settings_class.make(as_they_are)
    return made
