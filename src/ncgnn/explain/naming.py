"""Convert numbers to explanations with names, node by node."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ncgnn.explain.answer import Answer, Answers
from ncgnn.explain.contributions import Around, Outline, around, largest
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.groups import believed
from ncgnn.explain.heard import batches, filter_rows, heard
from ncgnn.explain.node import NodeExplanation
from ncgnn.explain.parts import Candidate, FeatureParts, GroupPart, Neighbour, Part
from ncgnn.explain.targets import Targets, make_targets
from ncgnn.explain.trace import Trace
from ncgnn.scored import Names

FEATURES_OF_A_NODE = 3


@dataclass(frozen=True, eq=False)
class NamedParts:
    """Targets, the parts of their scores, and the names of everything; iterating gives an explanation of each target.

    ``best_two`` has the two classes with the highest scores of each target's node, these and their probabilities, all
    [n, 2]. ``answers`` says why the first and not the second. ``shares`` splits by feature, where that is wanted, and
    the largest ``top`` are named.
    """

    trace: Trace
    names: Names
    targets: Targets
    parts: Outline
    best_two: tuple[Tensor, Tensor, Tensor]
    answers: Answers
    capsule_names: Sequence[str]
    shares: FeatureShares | None
    top: int

    def __iter__(self) -> Iterator[NodeExplanation]:
        classes, _, probabilities = self.best_two
        leads = make_targets(self.trace, self.targets.nodes, classes[:, 0], classes[:, 1])
        for batch in batches(self.trace, self.targets):
            weights = filter_rows(self.trace, self.targets.nodes[batch])
            targets = self.targets[batch]
            found = around(heard(self.trace, targets, weights), targets, self.top)
            answers = self.answers(leads[batch], probabilities[batch], weights)
            for row, answer in enumerate(answers):
                yield self._explanation(batch.start + row, _of(found, row), answer)

    def _explanation(self, i: int, top: Around, answer: Answer) -> NodeExplanation:
        found = self._without_features(i, top, answer)
        return found if self.shares is None else self._with_features(found, i, top)

    def _without_features(self, i: int, top: Around, answer: Answer) -> NodeExplanation:
        of_node = zip(*(part[i].tolist() for part in self.best_two), strict=True)
        best, second = (Candidate(self.names.classes[c], score, probability) for c, score, probability in of_node)
        explained, *against = (self.names.classes[c] for c in self.targets.classes[i].tolist())
        itself = self._neighbour(int(self.targets.nodes[i]), float(top.own))
        return NodeExplanation(
            node=itself.id,
            prediction=best,
            runner_up=second,
            explained=explained,
            against=(against[0] if len(against) == 1 else "the mean of all others") if against else None,
            score=float(self.parts.score[i]),
            bias=float(self.parts.bias[i]),
            hops=self._hops(i),
            own=itself.value,
            neighbours=self._neighbours(i, top),
            rest=float(top.rest),
            capsules=tuple(map(Part, self.capsule_names, self.parts.capsules[i].tolist())),
            groups=self._groups(i),
            label=itself.label,
            split=itself.split,
            title=itself.title,
            answer=answer,
        )

    def _hops(self, i: int) -> tuple[Part, ...] | None:
        hops = self.parts.hops
        return None if hops is None else tuple(Part(hop, float(values[i])) for hop, values in hops.items())

    def _groups(self, i: int) -> tuple[GroupPart, ...] | None:
        """The groups, the one with the largest share first."""
        if self.parts.groups is None:
            return None
        pairs = zip(self.trace.groups, self.parts.groups[i].tolist(), strict=True)
        parts = [GroupPart(group.name, value, group.words) for group, value in pairs]
        return tuple(sorted(parts, key=lambda part: -part.value))

    def _neighbours(self, i: int, top: Around) -> tuple[Neighbour, ...]:
        """The neighbours without padding, for nodes with a small receptive field."""
        found = zip(top.index.tolist(), top.value.tolist(), strict=True)
        if self.trace.believed is None:
            return tuple(self._neighbour(number, value) for number, value in found if value)
        used = believed(self.trace.groups, int(self.targets.nodes[i]))
        return tuple(self._believed(number, value, used) for number, value in found if value)

    def _believed(self, number: int, value: float, used: set[int]) -> Neighbour:
        """The neighbour with the class that it is taken for, if beliefs use that."""
        neighbour = self._neighbour(number, value)
        if number not in used:
            return neighbour
        assert self.trace.believed is not None
        return replace(neighbour, believed=self.names.classes[int(self.trace.believed[number])])

    def _neighbour(self, number: int, value: float) -> Neighbour:
        names = self.names
        known = names.labels[number], names.split(number)
        return Neighbour(names.nodes[number], value, *known, title=names.title(number))

    def _with_features(self, explanation: NodeExplanation, i: int, top: Around) -> NodeExplanation:
        assert self.shares is not None
        share = self.shares(self.targets[i : i + 1])
        nodes = torch.cat([self.targets.nodes[i : i + 1], top.index[: len(explanation.neighbours)]])
        (own, _), *of_others = self._largest(self.shares.of_nodes(share.heard, nodes), FEATURES_OF_A_NODE)
        pairs = zip(explanation.neighbours, of_others, strict=True)
        neighbours = (replace(neighbour, features=parts) for neighbour, (parts, _) in pairs)
        ((parts, rest),) = self._largest(share.features[None], self.top)
        by_feature = FeatureParts(parts, rest, float(share.bias))
        return replace(explanation, own_features=own, neighbours=tuple(neighbours), features=by_feature)

    def _largest(self, contributions: Tensor, top: int) -> Iterator[tuple[tuple[Part, ...], float]]:
        """The largest parts of each row by name, and the rest."""
        assert self.shares is not None
        found, columns = largest(contributions, top), self.shares.columns
        for index, values, rest in zip(found.index.tolist(), found.value.tolist(), found.rest.tolist(), strict=True):
            named = zip(index, values, strict=True)
            yield tuple(Part(columns.name(f, self.names), value) for f, value in named if value), rest


def _of(found: Around, row: int) -> Around:
    """What one target hears."""
    return Around(found.index[row], found.value[row], found.rest[row], found.own[row])
