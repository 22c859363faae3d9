"""What would change a prediction: the fewest neighbours, links or features whose removal changes the class.

Candidates come from the contributions, with couplings held fixed; whether the class changes is decided by full forward
passes, in which routing runs again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor

from ncgnn.errors import InputError
from ncgnn.explain.contributions import lead_of
from ncgnn.explain.node import NodeExplanation
from ncgnn.explain.removal import Candidates, Removal, What, candidates
from ncgnn.explain.sentence import named, without
from ncgnn.explain.wording import Said, class_said, quoted
from ncgnn.scored import Names

__all__ = ["MOST", "Counterfactual", "What", "counterfactual", "what_would_change"]

MOST = 10
"""Things that are taken away at most."""


@dataclass(frozen=True)
class Counterfactual:
    """The smallest removal found that changes a node's class.

    Attributes:
        node: id of the node.
        what: ``neighbours``, ``links`` or ``features``.
        prediction: the class with everything in place.
        becomes: the class without what is removed; ``None`` if no removal changes it.
        removed: ids of nodes, or names of features; empty if no removal changes the class. No part of it is enough.
        names: the same as a sentence names them.
        most: how many were removed at most, the most important ones first.
        passes: forward passes that were run.
        sentence: the answer in words.
    """

    node: str
    what: What
    prediction: str
    becomes: str | None
    removed: tuple[str, ...]
    names: tuple[str, ...]
    most: int
    passes: int
    sentence: str


def counterfactual(
    removal: Removal, names: Names, say: Callable[[int, int], Said], node: int, what: What, most: int = MOST
) -> Counterfactual:
    """The smallest removal found for a node; ``say`` names a feature of a node in a sentence."""
    if what not in get_args(What):
        raise InputError(f"what = {what!r}: must be one of {', '.join(get_args(What))}")
    if most < 1:
        raise InputError(f"most = {most}: must be at least 1")
    found = candidates(removal, node, what)
    search = Search(removal, node, found)
    chosen, becomes = search.smallest(min(most, len(found.items)))
    items = [found.items[place] for place in chosen]
    before = names.classes[search.predicted]
    after = None if becomes is None else names.classes[becomes]
    if what == "features":
        ids, removed = [removal.columns.name(i, names) for i in items], [say(i, node) for i in items]
    else:
        ids = [names.nodes[i] for i in items]
        removed = [Said("", quoted(names.title(i) or names.nodes[i])) for i in items]
    classes = class_said(before), None if after is None else class_said(after)
    words = without(what, *classes, removed, min(most, len(found.items)), len(found.items))
    titles = tuple(named([one]) for one in removed)
    return Counterfactual(names.nodes[node], what, before, after, tuple(ids), titles, most, search.passes, words)


def what_would_change(explanation: NodeExplanation, kinds: Sequence[What] | None = None) -> list[Counterfactual]:
    """What would change the class, of each kind that the model allows by default; what does not comes last."""
    assert explanation._explainer is not None
    kinds = explanation._explainer.removal.kinds if kinds is None else kinds
    return sorted(map(explanation.counterfactual, kinds), key=lambda one: one.becomes is None)


class Search:
    """The search for one node: greedy in the estimate, confirmed by the model, then pruned."""

    def __init__(self, removal: Removal, node: int, found: Candidates) -> None:
        self.removal, self.node, self.found, self.passes = removal, node, found, 0
        self.predicted = int(removal.subject.predicted[node])

    def smallest(self, most: int) -> tuple[list[int], int | None]:
        """Places of candidates whose removal changes the class, none of which could stay; and the new class."""
        order, leads = greedy(self.removal.trace.routing.u[self.node], self.found.parts, self.predicted, most)
        enough = next((count for count, lead in enumerate(leads, 1) if lead < 0), len(order))
        for count in range(max(enough, 1), len(order) + 1):
            becomes = self._without(order[:count])
            if becomes != self.predicted:
                return self._pruned(order[:count], becomes)
        return [], None

    def _pruned(self, chosen: list[int], becomes: int) -> tuple[list[int], int]:
        """Put back what need not be removed, the least important first, until nothing more can be."""
        for one in reversed(chosen):
            fewer = [place for place in chosen if place != one]
            if fewer and (other := self._without(fewer)) != self.predicted:
                chosen, becomes = fewer, other
        return chosen, becomes

    def _without(self, places: Sequence[int]) -> int:
        self.passes += 1
        gone = {self.found.what: [self.found.items[place] for place in places]}
        return self.removal.class_without(self.node, gone)


def greedy(u: Tensor, parts: Tensor, predicted: int, most: int) -> tuple[list[int], list[float]]:
    """The order in which parts [n, C, f_c] of a node's class capsules reduce the lead of its class most, each after the
    ones before it, and the leads that are left."""
    order: list[int] = []
    leads: list[float] = []
    left = torch.ones(len(parts), dtype=torch.bool)
    for _ in range(most):
        lead = lead_of(u - parts, predicted).masked_fill(~left, torch.inf)
        best = int(lead.argmin())
        u, left[best] = u - parts[best], False
        order.append(best)
        leads.append(float(lead[best]))
    return order, leads
