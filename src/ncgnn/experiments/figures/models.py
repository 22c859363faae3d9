"""The models of the figures, trained on split 0 with seed 0 and without test labels."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_geometric.data import Data

from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.experiments.recipes import LINES, settings_of
from ncgnn.models import Model, PreparedGraph, RunSettings, find_model
from ncgnn.provenance import machine
from ncgnn.train.epoch import Epoch
from ncgnn.train.inputs import Inputs


@dataclass(frozen=True, eq=False)
class Shown:
    """A trained model: module, inputs, settings, class probabilities of all nodes [N, C], and its row in the table of
    runs."""

    model: Model[Any]
    module: Any
    inputs: Inputs
    settings: Any
    probabilities: np.ndarray
    row: dict[str, Any]

    def hidden(self) -> np.ndarray:
        """Hidden features of each node [N, h]."""
        found: np.ndarray = self.model.hidden(self.module, self.inputs).detach().numpy()
        return found


def load_split(graph: str) -> Data:
    """A named graph with its usual split 0."""
    data = complete(load_dataset(graph))
    data.name = graph
    return usual_split(data, 0)


def show(data: Data, line: str, name: str | None = None, **changes: Any) -> Shown:
    """The model of a table line, called ``name``, with the settings of the table except for ``changes``."""
    settings = settings_of(LINES[line], data.name)
    assert settings is not None  # all graphs in figures have presets
    return _show(data, find_model(LINES[line].model), name or line, settings, changes)


def show_within(data: Data, line: str, name: str, hops: int) -> Shown:
    """The same with exactly ``hops`` hops; for a GCN, as many layers."""
    settings = settings_of(LINES[line], data.name, hops)
    assert settings is not None
    return _show(data, find_model(LINES[line].model), name, settings, {})


def _show(data: Data, model: Model[Any], name: str, settings: RunSettings, changes: dict[str, Any]) -> Shown:
    settings = type(settings).make(settings.model_dump() | {"seed": 0} | changes)
    inputs = model.prepare(PreparedGraph.of_complete(data), settings)
    fitted = model.fit(inputs, hide_test_labels(data), settings)
    probabilities = model.probabilities(model.scores(fitted.module, inputs)[0]).numpy()
    row = describe(name, data, settings, fitted.best, probabilities)
    return Shown(model, fitted.module, inputs, settings, probabilities, row)


def describe(name: str, data: Data, settings: RunSettings, best: Epoch, probabilities: np.ndarray) -> dict[str, Any]:
    """One row of a figure's table of runs."""
    right = probabilities.argmax(axis=1) == data.y.numpy()
    run = {"model": name, "graph": data.name, "split": 0, "seed": 0, "epoch": best.epoch}
    accuracies = {
        "val_accuracy": round(best.val_accuracy, 4),
        "test_accuracy": round(float(right[data.test_mask.numpy()].mean()), 4),
    }
    return run | accuracies | {"settings": json.dumps(settings.model_dump(mode="json"))} | machine()
