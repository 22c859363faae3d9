"""Answers about the nodes of one graph, computed when they are asked for."""

from threading import Lock
from typing import Any

from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import complete
from ncgnn.errors import InputError
from ncgnn.explain import GraphExplainer, NodeExplanation
from ncgnn.page import NodeViews, served_page
from ncgnn.serve.schema import Found, Prediction


class UnknownNode(InputError):
    """There is no node with this id."""


class Answers:
    """What a server knows of a model and a graph, after one forward pass. May be asked from several threads."""

    def __init__(self, classifier: NCGNNClassifier, data: Data) -> None:
        data = complete(data)
        self._explainer = GraphExplainer(classifier, data)
        self._views = NodeViews(self._explainer, data)
        self._lock = Lock()  # one explanation at a time: each takes all the memory and cores it can use
        names = self._explainer.names
        self._searched = [(id.casefold(), (names.title(i) or "").casefold()) for i, id in enumerate(names.nodes)]
        self.name = str(data.get("name", "the graph"))
        self.page = served_page(self._explainer, data)

    def predict(self, node: str) -> Prediction:
        return self._prediction(self._number(node))

    def explain(self, node: str, target: str | None, against: str | None, features: bool, top: int) -> NodeExplanation:
        self._number(node)
        with self._lock:
            (explanation,) = self._explainer.explain([node], against, features, top, target)
        return explanation

    def view(self, node: str) -> dict[str, Any]:
        self._number(node)
        with self._lock:
            (view,) = self._views([node])
        return view

    def search(self, text: str, limit: int) -> Found:
        """Ids before titles; of each, those that are the text, then those that begin with it, then those that hold it.
        Upper and lower case are alike."""
        wanted = text.casefold()
        ranked = ((number, _rank(wanted, names)) for number, names in enumerate(self._searched))
        ranks = {number: rank for number, rank in ranked if rank is not None}
        found = sorted(ranks, key=ranks.__getitem__)
        return Found(total=len(found), nodes=[self._prediction(number) for number in found[:limit]])

    def _number(self, node: str) -> int:
        try:
            return self._explainer.names.node_numbers([node])[0]
        except InputError as error:
            raise UnknownNode(str(error)) from None

    def _prediction(self, number: int) -> Prediction:
        names, probabilities = self._explainer.names, self._explainer.probabilities[number].tolist()
        second, first = sorted(probabilities)[-2:]
        return Prediction(
            id=names.nodes[number],
            title=names.title(number),
            label=names.labels[number],
            split=(names.splits[number] or None) if names.splits is not None else None,
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
