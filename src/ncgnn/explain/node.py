"""The explanation of one node's score, with names."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Part:
    """A named part of a score."""

    name: str
    value: float


@dataclass(frozen=True)
class Candidate(Part):
    """A class with its score and its probability, which is that of ``predict_proba``."""

    probability: float


_TITLE = 40  # letters


def called(id: str, title: str | None) -> str:
    """A node's id and, where it has one, its title."""
    return id if title is None else f"{id} “{shortened(title, _TITLE)}”"


def shortened(text: str, most: int) -> str:
    """Of a longer text the beginning."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True)
class Neighbour:
    """The part of one node, at any distance.

    Attributes:
        label: its known class, if any.
        split: ``train``, ``val``, ``test`` or ``calibration`` where the graph has a split.
        features: the largest parts of its features, where they were asked for.
        title: what to call it, where the graph says so.
    """

    id: str
    value: float
    label: str | None = None
    split: str | None = None
    features: tuple[Part, ...] = ()
    title: str | None = None

    @property
    def name(self) -> str:
        known = [self.split or "", f"class {self.label}" if self.label is not None else ""]
        note = ", ".join(text for text in known if text)
        return f"{called(self.id, self.title)} ({note})" if note else called(self.id, self.title)


@dataclass(frozen=True)
class FeatureParts:
    """The largest parts of features, summed over all nodes; what the other features and the first layer's bias add."""

    largest: tuple[Part, ...]
    rest: float
    bias: float


@dataclass(frozen=True)
class NodeExplanation:
    """Why a node has the score it has for a class, or why one class is ahead of another.

    A score is the length of the class capsule before squashing. By hop, by neighbour and by capsule, the parts and the
    bias add up to it; by feature, those of :class:`FeatureParts` and the bias do.

    Attributes:
        node: id of the node.
        prediction: the class with the highest score.
        runner_up: the one after it.
        explained: the class whose score is explained.
        against: the class it is compared with, if any; then all parts are differences.
        score: what the parts add up to.
        bias: the part of the class capsule's bias.
        hops: parts by distance; ``None`` where the filter is no sum over hops.
        neighbours: nodes with the largest parts, by magnitude; the node itself may be among them.
        rest: what all other nodes add.
        capsules: parts by primary capsule.
        features: parts by feature, where they were asked for.
        label: the known class of the node, if any.
        split: ``train``, ``val``, ``test`` or ``calibration`` where the graph has a split.
        title: what to call the node, where the graph says so.
    """

    node: str
    prediction: Candidate
    runner_up: Candidate
    explained: str
    against: str | None
    score: float
    bias: float
    hops: tuple[Part, ...] | None
    neighbours: tuple[Neighbour, ...]
    rest: float
    capsules: tuple[Part, ...]
    features: FeatureParts | None = None
    label: str | None = None
    split: str | None = None
    title: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, ready for JSON."""
        return asdict(self)

    @property
    def subject(self) -> str:
        """What is explained."""
        return self.explained if self.against is None else f"{self.explained} rather than {self.against}"

    def sections(self) -> Iterator[tuple[str, list[Part]]]:
        """The ways of splitting the score, each with parts that add up to it."""
        bias = Part("bias", self.bias)
        if self.hops is not None:
            yield "hop", [*self.hops, bias]
        nodes = [Part(neighbour.name, neighbour.value) for neighbour in self.neighbours]
        yield "neighbour", [*nodes, Part("all other nodes", self.rest), bias]
        yield "capsule", [*self.capsules, bias]
        if self.features is not None:
            others = Part("all other features", self.features.rest)
            yield "feature", [*self.features.largest, others, Part("bias of capsules", self.features.bias), bias]

    def rows(self) -> Iterator[tuple[str, str, str, float]]:
        """Kind, name, title and value of every part; only neighbours have titles."""
        yield from (("hop", part.name, "", part.value) for part in self.hops or ())
        yield from (("neighbour", part.id, part.title or "", part.value) for part in self.neighbours)
        yield "rest", "neighbours", "", self.rest
        yield from (("capsule", part.name, "", part.value) for part in self.capsules)
        if self.features is not None:
            yield from (("feature", part.name, "", part.value) for part in self.features.largest)
            yield "rest", "features", "", self.features.rest
            yield "bias", "capsules", "", self.features.bias
        yield "bias", "class", "", self.bias

    def __str__(self) -> str:
        from ncgnn.explain.text import sentence

        return sentence(self)

    def _repr_html_(self) -> str:
        from ncgnn.explain.drawing import table_of_bars

        return table_of_bars(self)
