"""The explanation of one node's score, with names."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ncgnn.errors import InputError
from ncgnn.explain.answer import Answer
from ncgnn.explain.drawing import table_of_bars
from ncgnn.explain.parts import ITSELF, Candidate, FeatureParts, GroupPart, Neighbour, Part
from ncgnn.explain.text import sentence

if TYPE_CHECKING:
    from ncgnn.explain.counterfactual import Counterfactual, What
    from ncgnn.explain.explainer import GraphExplainer
    from ncgnn.explain.in_parts import PartsExplainer


@dataclass(frozen=True)
class NodeExplanation:
    """Explanation of a node's score for a class, or of the lead of one class over another.

    A score is the length of the class capsule before squashing. By group, by hop, by node and by capsule,
    contributions and bias add up to it; by feature, those of :class:`FeatureParts` and the bias do.

    Attributes:
        node: id of the node.
        prediction: the class with the highest score.
        runner_up: the class with the second highest score.
        explained: the class whose score is explained.
        against: the class it is compared with, if any; then all contributions are differences.
        score: the sum of all contributions.
        bias: contribution of the class bias.
        hops: contributions by hop; ``None`` if the filter is not a sum over hops.
        own: contribution of the node itself.
        neighbours: other nodes, at any distance, with the largest contributions, by magnitude.
        rest: total of all nodes that are not listed.
        capsules: contributions by primary capsule.
        features: contributions by feature, if requested.
        own_features: the largest contributions of features of the node itself, if requested.
        label: the known class of the node, if any.
        split: ``train``, ``val``, ``test`` or ``calibration``, if the graph has a split.
        title: display name of the node, if any.
        groups: contributions by group of capsules, the largest first; ``None`` if the model has only one.
        answer: why the prediction and not the runner-up, in words and in parts of the difference.
    """

    node: str
    prediction: Candidate
    runner_up: Candidate
    explained: str
    against: str | None
    score: float
    bias: float
    hops: tuple[Part, ...] | None
    own: float
    neighbours: tuple[Neighbour, ...]
    rest: float
    capsules: tuple[Part, ...]
    features: FeatureParts | None = None
    own_features: tuple[Part, ...] = ()
    label: str | None = None
    split: str | None = None
    title: str | None = None
    groups: tuple[GroupPart, ...] | None = None
    answer: Answer | None = None

    _explainer: ClassVar["GraphExplainer | PartsExplainer | None"] = None

    def of(self, explainer: "GraphExplainer | PartsExplainer") -> Self:
        """The explanation, which may ask its explainer for more."""
        object.__setattr__(self, "_explainer", explainer)
        return self

    def counterfactual(self, what: "What" = "neighbours", most: int = 10) -> "Counterfactual":
        """What would change the class, as in :meth:`GraphExplainer.counterfactual`."""
        if self._explainer is None:
            raise InputError("this explanation has lost its model: use GraphExplainer.counterfactual")
        return self._explainer.counterfactual(self.node, what, most)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @property
    def subject(self) -> str:
        """What is explained."""
        return self.explained if self.against is None else f"{self.explained} rather than {self.against}"

    def sections(self) -> Iterator[tuple[str, list[Part]]]:
        """The breakdowns of the score, each with contributions that add up to it."""
        bias = Part("bias", self.bias)
        if self.groups is not None:
            yield "group", [*self.groups, bias]
        if self.hops is not None:
            yield "hop", [*self.hops, bias]
        others = [Part(neighbour.name, neighbour.value) for neighbour in self.neighbours]
        yield "node", [Part(ITSELF, self.own), *others, Part("all other nodes", self.rest), bias]
        yield "capsule", [*self.capsules, bias]
        if self.features is not None:
            rest = Part("all other features", self.features.rest)
            yield "feature", [*self.features.largest, rest, Part("bias of capsules", self.features.bias), bias]

    def rows(self) -> Iterator[tuple[str, str, str, float]]:
        """Kind, name, title and value of every contribution; only nodes have titles. The answer comes first, with the
        lead over the runner-up."""
        if self.answer is not None:
            yield "answer", self.answer.sentence, "", self.answer.lead
        yield from (("group", part.name, "", part.value) for part in self.groups or ())
        yield from (("hop", part.name, "", part.value) for part in self.hops or ())
        yield "itself", self.node, self.title or "", self.own
        yield from (("neighbour", part.id, part.title or "", part.value) for part in self.neighbours)
        yield "rest", "neighbours", "", self.rest
        yield from (("capsule", part.name, "", part.value) for part in self.capsules)
        if self.features is not None:
            yield from (("feature", part.name, "", part.value) for part in self.features.largest)
            yield "rest", "features", "", self.features.rest
            yield "bias", "capsules", "", self.features.bias
        yield "bias", "class", "", self.bias

    def __str__(self) -> str:
        return sentence(self)

    def _repr_html_(self) -> str:
        return table_of_bars(self)
