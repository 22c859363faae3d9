"""Answers about the nodes of one graph, computed when they are asked for."""

from collections.abc import Sequence
from html import escape
from threading import Lock
from typing import Any, TypeVar

from torch import Tensor

from ncgnn.errors import InputError
from ncgnn.explain import Counterfactual, GraphExplainer, NodeExplanation, is_explained
from ncgnn.explain.counterfactual import What
from ncgnn.page import NodeViews, served_page
from ncgnn.scored import Scored
from ncgnn.serve.schema import Found, Prediction

T = TypeVar("T")


class UnknownNode(InputError):
    """There is no node with this id."""


class Answers:
    """What a server knows of a model and a graph, after one forward pass. May be asked from several threads."""

    def __init__(self, scored: Scored) -> None:
        self._scored = scored
        self._explainer = GraphExplainer(scored) if is_explained(scored) else None
        self._views = None if self._explainer is None else NodeViews(self._explainer)
        self._lock = Lock()  # one explanation at a time: each takes all the memory and cores it can use
        names = scored.names
        self._searched = [(id.casefold(), (names.title(i) or "").casefold()) for i, id in enumerate(names.nodes)]
        self.name = str(scored.data.get("name", "the graph"))
        self.page = self._plain_page() if self._explainer is None else served_page(self._explainer)

    def predict(self, node: str) -> Prediction:
        return self._prediction(self._number(node))

    def explain(self, node: str, target: str | None, against: str | None, features: bool, top: int) -> NodeExplanation:
        self._number(node)
        with self._lock:
            (explanation,) = self._known(self._explainer).explain([node], against, features, top, target)
        return explanation

    def what_if(self, node: str, what: What, most: int) -> Counterfactual:
        self._number(node)
        with self._lock:
            return self._known(self._explainer).counterfactual(node, what, most)

    def without(self, node: str, neighbours: Sequence[str], features: Sequence[str]) -> Prediction:
        number = self._number(node)
        with self._lock:
            found = self._known(self._explainer).without(node, neighbours, features)
        return self._prediction(number, found)

    def view(self, node: str) -> dict[str, Any]:
        self._number(node)
        with self._lock:
            (view,) = self._known(self._views)([node])
        return view

    def search(self, text: str, limit: int) -> Found:
        """Ids before titles; of each, those that are the text, then those that begin with it, then those that hold it.
        Upper and lower case are alike."""
        wanted = text.casefold()
        ranked = ((number, _rank(wanted, names)) for number, names in enumerate(self._searched))
        ranks = {number: rank for number, rank in ranked if rank is not None}
        found = sorted(ranks, key=ranks.__getitem__)
        return Found(total=len(found), nodes=[self._prediction(number) for number in found[:limit]])

    def _plain_page(self) -> str:
        title = escape(f"{self.name}: predictions of {self._scored.model}")
        text = "This model cannot be explained. Predictions: /api/predict?node=ID, and /api/nodes for a list."
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1><p>{text}</p>'
        )

    def _known(self, part: T | None) -> T:
        if part is None:
            raise InputError(f"{self._scored.model} cannot be explained: serve an NCGNN without hidden capsule layers")
        return part

    def _number(self, node: str) -> int:
        try:
            return self._scored.names.node_numbers([node])[0]
        except InputError as error:
            raise UnknownNode(str(error)) from None

    def _prediction(self, number: int, other: Tensor | None = None) -> Prediction:
        """The prediction for a node, or with other probabilities."""
        names, found = self._scored.names, self._scored.probabilities[number] if other is None else other
        probabilities = found.tolist()
        second, first = sorted(probabilities)[-2:]
        return Prediction(
            id=names.nodes[number],
            title=names.title(number),
            label=names.labels[number],
            split=names.split(number),
            predicted=names.classes[probabilities.index(first)],
            probability=first,
            margin=first - second,
            probabilities=dict(zip(names.classes, probabilities, strict=True)),
        )


def _rank(wanted: str, names: tuple[str, ...]) -> int | None:
    """From 0, it is the first name, to the last name that holds it; ``None`` where none does."""
    for place, name in enumerate(names):
        if wanted in name:
            return 3 * place + (0 if name == wanted else 1 if name.startswith(wanted) else 2)
    return None
