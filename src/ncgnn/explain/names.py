"""Names of nodes, classes and features, and how a name that is asked for is found."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.classifier.run_folder import roles
from ncgnn.errors import InputError
from ncgnn.explain.node import Neighbour

_FEW = 8  # names that can be listed, all of them, in a message


@dataclass(frozen=True)
class Names:
    """What the numbers of one model and one graph stand for."""

    nodes: Sequence[str]
    classes: Sequence[str]
    features: Sequence[str]
    labels: Sequence[str | None]
    splits: Sequence[str] | None
    titles: Sequence[str] | None

    @classmethod
    def of(cls, classifier: NCGNNClassifier, data: Data) -> "Names":
        labels = [data.class_names[label] if label >= 0 else None for label in data.y.tolist()]
        classes = classifier.classes_.astype(str).tolist()
        return cls(data.node_ids, classes, data.feature_names, labels, roles(data), data.get("node_titles"))

    def title(self, number: int) -> str | None:
        """What to call a node beside its id, where that is known."""
        return self.titles[number] or None if self.titles is not None else None

    def neighbour(self, number: int, value: float) -> Neighbour:
        split = self.splits[number] if self.splits is not None else ""
        return Neighbour(self.nodes[number], value, self.labels[number], split or None, title=self.title(number))

    def class_number(self, name: object) -> int:
        return find([name], self.classes, "class")[0]

    def node_numbers(self, ids: Sequence[object]) -> list[int]:
        return find(ids, self.nodes, "node", self.titles or ())


def find(wanted: Sequence[object], known: Sequence[str], kind: str, titles: Sequence[str] = ()) -> list[int]:
    """The places of names; for one that is not there, an error with the name whose title it is, or those nearest."""
    places = {name: place for place, name in enumerate(known)}
    missing = next((str(name) for name in wanted if str(name) not in places), None)
    if missing is None:
        return [places[str(name)] for name in wanted]
    if missing and missing in titles:
        raise InputError(f"{missing!r} is the title of {kind} {known[titles.index(missing)]!r}: give its id")
    raise InputError(f"there is no {kind} {missing!r}; {_others(missing, known)}")


def _others(missing: str, known: Sequence[str]) -> str:
    if len(known) <= _FEW:
        return f"there are {', '.join(map(repr, known))}"
    near = get_close_matches(missing, known, n=3, cutoff=0.5)
    return f"{'near are' if near else 'there are such as'} {', '.join(map(repr, near or known[:3]))}"
