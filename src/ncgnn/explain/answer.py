"""Why the predicted class and not the runner-up: what an explanation says first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from ncgnn.explain.contributions import Pulls, by_group, of_bias, pulls
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.parts import Part
from ncgnn.explain.sentence import Facts, Near, rather, sentence
from ncgnn.explain.targets import Targets
from ncgnn.explain.trace import Trace
from ncgnn.explain.wording import Said, Wording, class_said
from ncgnn.scored import Scored
from ncgnn.sparse import CSR

NEAR = 8
"""Neighbours of which a sentence may name some."""


@dataclass(frozen=True)
class Answer:
    """What puts the predicted class ahead of the runner-up: all parts are differences of two scores.

    Attributes:
        sentence: why, in a sentence that needs no other.
        rather: why this class rather than the runner-up, in shares.
        lead: the difference of the two scores; ``own``, ``others`` and ``bias`` add up to it.
        own: the part of the node itself.
        others: the parts of all other nodes.
        bias: the part that depends on no node.
        whole: the magnitudes of the parts of all nodes and of the bias, which shares are of.
        own_features: the largest parts of features of the node itself.
    """

    sentence: str
    rather: str
    lead: float
    own: float
    others: float
    bias: float
    whole: float
    own_features: tuple[Part, ...] = ()


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers for the nodes of one graph.

    Attributes:
        neighbours: gives the nodes that a node is linked with.
        wording: what features are called.
    """

    scored: Scored
    trace: Trace
    shares: FeatureShares
    neighbours: Callable[[int], set[int]]
    wording: Wording

    def __call__(self, leads: Targets, probabilities: Tensor, weights: Sequence[CSR]) -> Iterator[Answer]:
        """One for each lead of a class over another in a batch; probabilities of the two [n, 2], and the rows of the
        filters."""
        found, bias = pulls(self.trace, leads, NEAR, weights), of_bias(self.trace, leads).tolist()
        for row, of_two in enumerate(probabilities.tolist()):
            yield self._answer(leads[row : row + 1], found, row, bias[row], of_two)

    def _answer(self, target: Targets, found: Pulls, row: int, bias: float, probabilities: Sequence[float]) -> Answer:
        own, total = float(found.value[row, 0]), float(found.total[row])
        magnitude = float(found.magnitude[row])
        node, names = int(target.nodes[0]), self.scored.names
        first, second = (class_said(names.classes[c]) for c in target.classes[0].tolist())
        features = self.shares.of_few(target, found.index[row], [a[row] for a in found.weights])
        neighbours = self.neighbours(node)
        facts = Facts(
            first,
            second,
            probabilities=(probabilities[0], probabilities[1]),
            calibrated=self.scored.calibration is not None,
            score=float(self.trace.lengths[node, target.classes[0, 0]]),
            own=own,
            supporting=(magnitude - abs(own) + total - own) / 2,
            opposing=(magnitude - abs(own) - total + own) / 2,
            bias=bias,
            own_features=self._said(features[0], node),
            near=self._near(found, row, neighbours),
            near_features=self._said(features[1:].sum(dim=0), None),
            degree=len(neighbours),
            heard=self._heard(target),
        )
        words = sentence(facts), rather(facts)
        parts = total + bias, own, total - own, bias, magnitude + abs(bias)
        return Answer(*words, *parts, own_features=self._largest(features[0]))

    def _heard(self, target: Targets) -> str:
        """What the most important of the groups that hear other nodes hears of them."""
        parts, groups = by_group(self.trace, target), self.trace.groups
        if parts is None:
            return ""
        hearing = [number for number, group in enumerate(groups) if not group.is_own]
        return groups[max(hearing, key=parts[0].__getitem__)].heard if hearing else ""

    def _largest(self, parts: Tensor) -> tuple[Part, ...]:
        values, places = parts.abs().topk(min(NEAR, len(parts)))
        chosen = [place for place, value in zip(places.tolist(), values.tolist(), strict=True) if value]
        return tuple(Part(self.shares.columns.name(f, self.scored.names), float(parts[f])) for f in chosen)

    def _near(self, found: Pulls, row: int, neighbours: set[int]) -> list[Near]:
        names = self.scored.names
        pairs = zip(found.index[row, 1:].tolist(), found.value[row, 1:].tolist(), strict=True)
        return [Near(names.title(j) or names.nodes[j], value, j in neighbours) for j, value in pairs if value]

    def _said(self, parts: Tensor, node: int | None) -> list[Said]:
        """The two features that speak most for the class, those that hardly do left out."""
        total = float(parts.clamp(min=0).sum())
        values, places = parts.topk(min(2, len(parts)))
        pairs = zip(places.tolist(), values.tolist(), strict=True)
        return [self.wording(feature, node) for feature, value in pairs if value > 0.1 * total]
