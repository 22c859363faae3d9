"""One node as a page shows it: its prediction, what it is made of, and where the nodes that contribute are."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from torch_geometric.data import Data

from ncgnn.explain import GraphExplainer, Neighbour, NodeExplanation, Part
from ncgnn.explain.explainer import RUNNER_UP
from ncgnn.page.predictions import Predictions
from ncgnn.page.words import in_words

NEIGHBOURS, FEATURES, DECIDING = 32, 12, 8
"""How many are named; a drawing of more is not to be read."""
FEATURES_EACH = 2
"""Features that are named of each neighbour."""
FARTHEST = 4
"""Steps that are counted; what lies farther away is only said to."""
_LEAST = 5e-4  # of the score: what is less would read 0.0 %


class NodeViews:
    """Views of the nodes of one graph, as plain values with names."""

    def __init__(self, explainer: GraphExplainer) -> None:
        self.explainer = explainer
        self.predictions = Predictions.of(explainer)
        self._surroundings = Surroundings(explainer.scored.data)
        self._numbers = {id: number for number, id in enumerate(explainer.names.nodes)}

    def __call__(self, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
        explain = self.explainer.explain
        return map(
            self._view, explain(ids, features=True, top=NEIGHBOURS), explain(ids, against=RUNNER_UP, top=DECIDING)
        )

    def _view(self, why: NodeExplanation, lead: NodeExplanation) -> dict[str, Any]:
        node = self._numbers[why.node]
        heard = [neighbour for neighbour in why.neighbours if abs(neighbour.value) >= _LEAST * abs(why.score)]
        others = [self._numbers[neighbour.id] for neighbour in heard]
        rest = why.score - why.bias - sum(neighbour.value for neighbour in heard)
        view = self.known(node) | {
            "score": rounded(why.score),
            "bias": rounded(why.bias),
            "groups": None if why.groups is None else [[p.name, rounded(p.value), p.words] for p in why.groups],
            "hops": None if why.hops is None else _pairs(why.hops),
            "capsules": [rounded(part.value) for part in why.capsules],
            "features": _features(why),
            "neighbours": self._neighbours(node, others, heard),
            "rest": rounded(rest),
            "lead": self._lead(lead),
            "links": self._links([node, *(other for other in others if other != node)]),
        }
        return view | {"words": in_words(view)}

    def _neighbours(self, node: int, others: list[int], heard: Sequence[Neighbour]) -> list[dict[str, Any]]:
        steps = self._surroundings.distances(node, others)
        return [
            self.known(other)
            | {"value": rounded(neighbour.value), "distance": distance, "features": _through(neighbour)}
            | {"believed": neighbour.believed}
            for other, neighbour, distance in zip(others, heard, steps, strict=True)
        ]

    def _lead(self, lead: NodeExplanation) -> dict[str, Any]:
        """What the prediction is ahead of the runner-up, and whose doing that is."""
        others = [self.known(self._numbers[one.id]) | {"value": rounded(one.value)} for one in lead.neighbours]
        parts = {"score": lead.score, "bias": lead.bias, "rest": lead.rest}
        return {key: rounded(value) for key, value in parts.items()} | {"neighbours": others}

    def _links(self, nodes: list[int]) -> list[list[str]]:
        return [[self._id(nodes[a]), self._id(nodes[b])] for a, b in self._surroundings.links(nodes)]

    def known(self, node: int) -> dict[str, Any]:
        """What is predicted and known of a node, without its reasons."""
        names, p = self.explainer.names, self.predictions
        label, split = int(p.label[node]), "" if p.split is None else str(p.split[node])
        return {
            "id": self._id(node),
            "title": names.title(node),
            "predicted": names.classes[p.best[node, 0]],
            "probability": rounded(p.probability[node, 0]),
            "second": names.classes[p.best[node, 1]],
            "second_probability": rounded(p.probability[node, 1]),
            "label": names.classes[label] if label >= 0 else None,
            "split": split or None,
            "group": None if p.main_group is None else self.explainer.trace.groups[p.main_group[node]].name,
        }

    def _id(self, node: int) -> str:
        return self.explainer.names.nodes[node]


def rounded(value: float) -> float:
    """To three digits, which is more than a drawing shows."""
    return float(f"{value:.3g}")


def _through(neighbour: Neighbour) -> list[str]:
    """The features that most make its part what it is: those of the same sign."""
    return [part.name for part in neighbour.features if part.value * neighbour.value > 0][:FEATURES_EACH]


def _pairs(parts: Sequence[Part]) -> list[list[Any]]:
    return [[part.name, rounded(part.value)] for part in parts]


def _features(why: NodeExplanation) -> dict[str, Any]:
    assert why.features is not None
    named, others = why.features.largest[:FEATURES], why.features.largest[FEATURES:]
    rest = why.features.rest + sum(part.value for part in others)
    return {"largest": _pairs(named), "rest": rounded(rest), "bias": rounded(why.features.bias)}


class Surroundings:
    """The edges of a graph, without their weights."""

    def __init__(self, data: Data) -> None:
        source, target = data.edge_index.numpy()
        ones = np.ones(source.size, dtype=np.int8)
        self.adjacency = sp.csr_array((ones, (source, target)), shape=(data.num_nodes, data.num_nodes))

    def distances(self, node: int, others: Sequence[int]) -> list[int | None]:
        """Steps from a node to others; ``None`` where they are too many, or there is no way."""
        steps = dijkstra(self.adjacency, unweighted=True, indices=node, limit=FARTHEST)[list(others)]
        return [int(count) if np.isfinite(count) else None for count in steps]

    def links(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        """The edges among nodes, by their places in the list; each edge once."""
        inside = sp.coo_array(self.adjacency[list(nodes)][:, list(nodes)])
        pairs = zip(inside.row.tolist(), inside.col.tolist(), strict=True)
        return sorted({(a, b) for a, b in pairs if a < b})
