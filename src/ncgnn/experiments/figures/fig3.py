"""Figure 3: t-SNE maps of three models on Amazon Computers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ncgnn.experiments.figures.models import load_split, show
from ncgnn.experiments.figures.store import Tables
from ncgnn.tsne import plane

GRAPH = "amazon-computers"
MODELS = ("GCN", "GAT", "NCGNN-A")
CHANGES: dict[str, Any] = {"GAT": {"epochs": 200, "patience": 200}}  # best weights on validation within 200 epochs
NEAREST = 10
STEPS = 2 * len(MODELS)
COLUMNS = {
    "points": ("node", "class", *(f"{model} {axis}" for model in MODELS for axis in "xy")),
    "runs": ("model", "test_accuracy", "alike"),
}


def measure(done: Callable[[], None], graph: str = GRAPH) -> Tables:
    """Train the three models and map their hidden features."""
    data = load_split(graph)
    points: dict[str, object] = {
        "node": data.node_ids,
        "class": [data.class_names[c] if c >= 0 else "" for c in data.y.tolist()],
    }
    runs = []
    for model in MODELS:
        shown = show(data, model, **CHANGES.get(model, {}))
        done()
        vectors = shown.hidden()
        name, flat = shown.row["model"], plane(vectors).astype(float).round(1)  # more cannot be seen
        points |= {f"{name} x": flat[:, 0], f"{name} y": flat[:, 1]}
        runs.append({"model": name, "alike": alike(vectors, data.y.numpy())} | shown.row)
        done()
    return {"points": pd.DataFrame(points), "runs": pd.DataFrame(runs)}


def alike(vectors: np.ndarray, labels: np.ndarray, nearest: int = NEAREST) -> float:
    """Mean fraction of a node's nearest vectors that share its class, over labelled nodes."""
    from sklearn.neighbors import NearestNeighbors

    known = labels >= 0
    vectors, labels = vectors[known], labels[known]
    found = NearestNeighbors(n_neighbors=min(nearest, len(vectors) - 1)).fit(vectors).kneighbors(return_distance=False)
    return round(float((labels[found] == labels[:, None]).mean()), 4)
