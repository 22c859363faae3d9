"""One node as a page shows it: its prediction, what it is made of, and where the nodes that contribute are."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ncgnn.explain import GraphExplainer, Neighbour, NodeExplanation, Part
from ncgnn.explain.counterfactual import what_would_change
from ncgnn.explain.explainer import RUNNER_UP
from ncgnn.explain.surroundings import Surroundings
from ncgnn.page.predictions import Predictions

NEIGHBOURS, FEATURES = 32, 12
"""How many are named; a drawing of more is not to be read."""
FEATURES_EACH = 2
"""Features that are named of each neighbour."""
_LEAST = 5e-4  # of the whole: what is less would read 0.0 %


class NodeViews:
    """Views of the nodes of one graph, as plain values with names."""

    def __init__(self, explainer: GraphExplainer, confirmed: Collection[int] | None = None) -> None:
        """``confirmed``: the nodes for which is found what would change them; by default all."""
        self.explainer, self._confirmed = explainer, confirmed
        self.predictions = Predictions.of(explainer)
        self._surroundings = Surroundings(explainer.scored.data)
        self._numbers = {id: number for number, id in enumerate(explainer.names.nodes)}

    def __call__(self, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
        return map(self._view, self.explainer.explain(ids, against=RUNNER_UP, features=True, top=NEIGHBOURS))

    def _view(self, why: NodeExplanation) -> dict[str, Any]:
        assert why.answer is not None
        node, answer = self._numbers[why.node], why.answer
        heard = [neighbour for neighbour in why.neighbours if abs(neighbour.value) >= _LEAST * answer.whole]
        others = [self._numbers[neighbour.id] for neighbour in heard]
        rest = why.score - why.bias - why.own - sum(neighbour.value for neighbour in heard)
        return self.known(node) | {
            "sentence": answer.sentence,
            "rather": answer.rather,
            "score": rounded(why.score),
            "whole": rounded(answer.whole),
            "bias": rounded(why.bias),
            "groups": None if why.groups is None else [[p.name, rounded(p.value), p.words] for p in why.groups],
            "hops": None if why.hops is None else _pairs(why.hops),
            "capsules": [rounded(part.value) for part in why.capsules],
            "features": self._features(why, node),
            "own": [[self.explainer.with_value(p.name, node), rounded(p.value), p.name] for p in answer.own_features],
            "change": self._change(why),
            "itself": rounded(why.own),
            "neighbours": self._neighbours(node, others, heard),
            "rest": rounded(rest),
            "links": self._links([node, *others]),
        }

    def _neighbours(self, node: int, others: list[int], heard: Sequence[Neighbour]) -> list[dict[str, Any]]:
        steps = self._surroundings.distances(node, others)
        return [
            self.known(other)
            | {"value": rounded(neighbour.value), "distance": distance, "features": _through(neighbour)}
            | {"believed": neighbour.believed}
            for other, neighbour, distance in zip(others, heard, steps, strict=True)
        ]

    def _features(self, why: NodeExplanation, node: int) -> dict[str, Any]:
        assert why.features is not None
        named, others = why.features.largest[:FEATURES], why.features.largest[FEATURES:]
        rest = why.features.rest + sum(part.value for part in others)
        largest = [[self.explainer.with_value(part.name, node), rounded(part.value)] for part in named]
        return {"largest": largest, "rest": rounded(rest), "bias": rounded(why.features.bias)}

    def _change(self, why: NodeExplanation) -> list[str] | None:
        """What would change the class, confirmed by forward passes; ``None`` where that was not looked for."""
        if self._confirmed is not None and self._numbers[why.node] not in self._confirmed:
            return None
        return [change.sentence for change in what_would_change(why, ("neighbours", "features"))]

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
