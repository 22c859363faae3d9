"""The models that the figures show: trained on split 0 with seed 0, without the test labels."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel
from torch_geometric.data import Data

from ncgnn import baselines
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.data.graph import feature_matrix
from ncgnn.data.splits import hide_test_labels
from ncgnn.experiments.recipes import within
from ncgnn.models.base.features import prepare_features
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.provenance import machine
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.epoch import Epoch


@dataclass(frozen=True, eq=False)
class Shown:
    """A trained model: its class probabilities of all nodes [N, C], whether it takes normalised features, and the row
    that says how it came about."""

    model: Any
    probabilities: np.ndarray
    normalize_features: bool
    row: dict[str, Any]


def load_split(graph: str) -> Data:
    """A named graph with its usual split 0."""
    data = complete(load_dataset(graph))
    data.name = graph
    return usual_split(data, 0)


def show_ncgnn(data: Data, name: str = "NCGNN-A", most_hops: int | None = None, **changes: Any) -> Shown:
    """NCGNN-A with the preset of the graph, its hops cut or continued to ``most_hops``."""
    config = Config.make(preset(data.name) | {"seed": 0})
    hops = {} if most_hops is None else within(config, most_hops)
    classifier = NCGNNClassifier.from_config(Config.make(config.model_dump() | hops | changes))
    classifier.fit(hide_test_labels(data))
    probabilities = classifier.predict_proba(data)
    config = classifier.config_
    row = describe(name, data, config, classifier.best_, probabilities)
    return Shown(classifier, probabilities, config.normalize_features, row)


def show_gcn(data: Data, name: str = "GCN", layers: int = 2) -> Shown:
    """Kipf and Welling's GCN."""
    settings = baselines.published_gcn(data.name, layers)
    fit = baselines.fit(hide_test_labels(data), settings)
    probabilities = fit.scores.softmax(dim=1).numpy()
    row = describe(name, data, settings, fit.best, probabilities)
    return Shown(fit.model, probabilities, settings.normalize_features, row)


def gcn_hidden(data: Data, shown: Shown) -> np.ndarray:
    """The hidden features of a GCN of two layers [N, width]."""
    x = feature_matrix(prepare_features(data.x, shown.normalize_features))
    a = normalized_adjacency(data.edge_index, int(data.num_nodes or 0), data.get("edge_weight"))
    hidden: np.ndarray = np.maximum(a @ (x @ shown.model.weights[0].detach().numpy()), 0)
    return hidden


def describe(
    name: str, data: Data, settings: BaseModel | dict[str, Any], best: Epoch, probabilities: np.ndarray
) -> dict[str, Any]:
    """One row of a figure's table of runs."""
    right = probabilities.argmax(axis=1) == data.y.numpy()
    values = settings.model_dump(mode="json") if isinstance(settings, BaseModel) else settings
    run = {"model": name, "graph": data.name, "split": 0, "seed": 0, "epoch": best.epoch}
    accuracies = {
        "val_accuracy": round(best.val_accuracy, 4),
        "test_accuracy": round(float(right[data.test_mask.numpy()].mean()), 4),
    }
    return run | accuracies | {"settings": json.dumps(values)} | machine()
