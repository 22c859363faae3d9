"""Figure 3: t-SNE maps of three models on Amazon Computers, one map per model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ncgnn.drawing import class_colors, in_order, new_figure, plain, plane
from ncgnn.experiments.figures.models import load_split, show
from ncgnn.experiments.figures.store import Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def draw(tables: Tables) -> "Figure":
    points, accuracy = tables["points"], tables["runs"].set_index("model")["test_accuracy"]
    colors = class_colors(in_order(name for name in points["class"] if name))
    known = points[points["class"] != ""]
    shades = known["class"].map(colors).tolist()
    figure = new_figure(12, 4.4)
    for axes, model in zip(figure.subplots(1, len(MODELS)), MODELS, strict=True):
        axes.scatter(known[f"{model} x"], known[f"{model} y"], s=1, c=shades, linewidths=0)
        axes.set(xticks=[], yticks=[], title=f"{model}, test accuracy {accuracy[model]:.1%}")
    groups = [axes.scatter([], [], s=20, color=color) for color in colors.values()]
    legend = figure.legend(groups, list(colors), loc="outside lower center", ncols=len(colors), title="class")
    plain(legend.get_texts())
    return figure


def caption(tables: Tables) -> str:
    fractions = tables["runs"].set_index("model")["alike"]
    shares = ", ".join(f"{fractions[model]:.3f} for {model}" for model in MODELS)
    return (
        "t-SNE maps of all nodes of Amazon Computers, coloured by class: hidden features of GCN and GAT, and for "
        "NCGNN-A the longest class capsule. Maps distort distances, so here is the same as a number: in the original "
        f"space, the mean fraction of the {NEAREST} nearest nodes that share a node's class is {shares}."
    )
