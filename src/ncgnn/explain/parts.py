"""Named contributions to a score."""

from dataclasses import dataclass

ITSELF = "the node itself"


@dataclass(frozen=True)
class Part:
    """A named contribution to a score."""

    name: str
    value: float


@dataclass(frozen=True)
class GroupPart(Part):
    """The contribution of a group of capsules, and what it reads, in plain words."""

    words: str


@dataclass(frozen=True)
class Candidate(Part):
    """A class with its score and its probability, as in ``predict_proba``."""

    probability: float


_TITLE = 40  # letters


def called(id: str, title: str | None) -> str:
    """A node's id and its title, if it has one."""
    return id if title is None else f"{id} “{shortened(title, _TITLE)}”"


def shortened(text: str, most: int) -> str:
    """The text, truncated if it is too long."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True)
class Neighbour:
    """The contribution of another node, at any distance.

    Attributes:
        label: its known class, if any.
        split: ``train``, ``val``, ``test`` or ``calibration``, if the graph has a split.
        features: the largest contributions of its features, if requested.
        title: its display name, if any.
        believed: the class it is taken for, if the model uses that for the explained node.
    """

    id: str
    value: float
    label: str | None = None
    split: str | None = None
    features: tuple[Part, ...] = ()
    title: str | None = None
    believed: str | None = None

    @property
    def name(self) -> str:
        known = {"": self.split or None, "class ": self.label, "taken for ": self.believed}
        note = ", ".join(f"{kind}{text}" for kind, text in known.items() if text is not None)
        return f"{called(self.id, self.title)} ({note})" if note else called(self.id, self.title)


@dataclass(frozen=True)
class FeatureParts:
    """The largest contributions of features, summed over all nodes, and those of other features and the first bias."""

    largest: tuple[Part, ...]
    rest: float
    bias: float
