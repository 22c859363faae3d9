"""Nodes and their views in few characters: names stand in tables, once, and are meant by their places."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ncgnn.data.graph import PARTS
from ncgnn.drawing import plane
from ncgnn.explain import GraphExplainer
from ncgnn.page.choice import Choice
from ncgnn.page.predictions import Predictions
from ncgnn.page.view import rounded

ROLES = ("", *PARTS, "calibration")
KEPT = ("sentence", "rather", "change", "score", "whole", "bias", "hops", "capsules", "itself", "rest", "own")
"""What stays of a view as it is."""
WIDTH = 1000
"""Of the map; places are whole numbers from 0 to this."""


class Register:
    """Names in the order in which they were met first."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._places = {name: place for place, name in enumerate(names)}

    def place(self, name: str) -> int:
        return self._places.setdefault(name, len(self._places))

    @property
    def names(self) -> list[str]:
        return list(self._places)


def shortened(view: dict[str, Any], nodes: Register, features: Register) -> dict[str, Any]:
    """A view without what the table of nodes says, and with places instead of names."""
    kept = {key: view[key] for key in KEPT}
    if view["groups"] is not None:
        kept["groups"] = [[name, value] for name, value, _ in view["groups"]]
        kept["believed"] = [n["believed"] for n in view["neighbours"]]
    by_feature = view["features"]
    largest = [[features.place(name), value] for name, value in by_feature["largest"]]
    around = Register([view["id"], *(n["id"] for n in view["neighbours"])])
    return kept | {
        "features": by_feature | {"largest": largest},
        "neighbours": [
            [nodes.place(n["id"]), n["value"], n["distance"], *map(features.place, n["features"])]
            for n in view["neighbours"]
        ],
        "links": [around.place(end) for link in view["links"] for end in link],
    }


def node_table(explainer: GraphExplainer, predictions: Predictions, nodes: list[int]) -> dict[str, list[Any] | None]:
    """A column for each thing that is known of some nodes; classes and roles by number."""
    split = None if predictions.split is None else predictions.split[nodes]
    return {
        "id": [explainer.names.nodes[node] for node in nodes],
        "title": None if explainer.names.titles is None else [explainer.names.title(node) for node in nodes],
        "predicted": predictions.best[nodes, 0].tolist(),
        "probability": [rounded(p) for p in predictions.probability[nodes, 0]],
        "second": predictions.best[nodes, 1].tolist(),
        "second_probability": [rounded(p) for p in predictions.probability[nodes, 1]],
        "label": predictions.label[nodes].tolist(),
        "split": [0] * len(nodes) if split is None else [ROLES.index(role) for role in split],
        "group": None if predictions.main_group is None else predictions.main_group[nodes].tolist(),
    }


def node_places(explainer: GraphExplainer, predictions: Predictions, choice: Choice) -> list[list[int]]:
    """Where the nodes of the map are on it: near to each other where all their class capsules are alike. Placed by the
    capsule of the predicted class alone, classes would look well apart however often predictions are wrong."""
    capsules = explainer.trace.routing.capsules.flatten(1).numpy()[choice.on_map]
    found: list[list[int]] = places(np.ascontiguousarray(capsules)).tolist()
    return found


def places(capsules: np.ndarray) -> np.ndarray:
    """A t-SNE map of vectors [n, f] as whole numbers [n, 2]."""
    points = plane(capsules)
    points = points - points.min(axis=0, initial=np.inf)
    found: np.ndarray = (points / points.max(initial=1e-12) * WIDTH).round().astype(int)
    return found
