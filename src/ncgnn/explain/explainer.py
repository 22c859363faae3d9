"""Explanations of a model's predictions for the nodes of one graph."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ncgnn.errors import InputError
from ncgnn.explain.answer import Answers
from ncgnn.explain.capsule_names import capsule_names
from ncgnn.explain.contributions import decisive, outline
from ncgnn.explain.counterfactual import MOST, Counterfactual, What, counterfactual
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.naming import NamedParts
from ncgnn.explain.node import NodeExplanation
from ncgnn.explain.removal import Removal
from ncgnn.explain.surroundings import Surroundings
from ncgnn.explain.targets import Targets, ahead_of_others, make_targets
from ncgnn.explain.trace import Selection, selection, trace_scored
from ncgnn.explain.wording import Wording
from ncgnn.nn import proportions
from ncgnn.scored import Names, Scored, find

RUNNER_UP = "runner-up"
OTHERS = "others"


class GraphExplainer:
    """Explains the scores of a classifier for the nodes of a graph.

    Example:
        >>> import ncgnn
        >>> data = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)
        >>> clf = ncgnn.NCGNNClassifier(hops=2, epochs=20).fit(data)
        >>> explanation, = ncgnn.GraphExplainer(clf.scored(data)).explain(["33"])
        >>> [part.name for part in explanation.hops]
        ['1', '2']
    """

    def __init__(self, scored: Scored) -> None:
        self.scored, self.names = scored, scored.names
        self.trace = trace_scored(scored)
        order = np.argsort(-self.trace.scores.numpy(), axis=1, kind="stable")
        self._ranked = torch.from_numpy(order)  # classes of each node, best first

    @property
    def selection(self) -> Selection:
        """How selective routing is."""
        return selection(self.trace)

    def explain(
        self,
        nodes: Sequence[object] | Tensor | None = None,
        against: str | None = None,
        features: bool = False,
        top: int | None = 16,
        target: str | None = None,
    ) -> Iterator[NodeExplanation]:
        """Explanations of nodes, in their order.

        Args:
            nodes: ids, or a tensor of node numbers or a mask; ``None`` for all nodes.
            against: a class to compare with, ``"runner-up"`` for the strongest other class of each node, or
                ``"others"`` for the mean of all other classes.
            features: also attribute to features (slower).
            top: number of neighbours and features to list; ``None`` for all.
            target: the class to explain; default: the predicted class of each node.
        """
        if top is None:
            top = max(len(self.names.nodes), len(self.names.features))
        if not isinstance(top, int) or top < 1:
            raise InputError(f"top = {top!r}: must be a positive number of neighbours, or None for all")
        at = node_numbers(self.names, nodes)
        classes = self._ranked[at, 0] if target is None else torch.full_like(at, self.names.class_number(target))
        targets = self._targets(at, classes, against)
        shares = self._feature_shares if features else None
        parts, named = outline(self.trace, targets), (self._answers, self.capsule_names)
        explanations = NamedParts(self.trace, self.names, targets, parts, self._best_two(at), *named, shares, top)
        return (one.of(self) for one in explanations)

    def decisive(self, node: object, top: int = 16) -> list[str]:
        """Ids of the nodes that a prediction depends on, most decisive first: each one is the node whose removal, with
        couplings held fixed, reduces the lead of the predicted class over the best other class most."""
        (number,) = self.names.node_numbers([node])
        order = decisive(self.trace, number, int(self._ranked[number, 0]))
        return [self.names.nodes[other] for other in order[:top].tolist()]

    def counterfactual(self, node: object, what: What = "neighbours", most: int = MOST) -> Counterfactual:
        """The fewest neighbours, links or features whose removal changes the class of a node, as far as they are found:
        ranked by their contributions, confirmed by full forward passes, and none of them could stay.

        Args:
            node: its id.
            what: ``neighbours``, which the model ignores while all links stay, at any distance; ``links`` of the node,
                which are cut; or ``features`` of the node.
            most: how many are removed at most.
        """
        (number,) = self.names.node_numbers([node])
        return counterfactual(self.removal, self.names, self._wording, number, what, most)

    def without(self, node: object, neighbours: Sequence[object] = (), features: Sequence[str] = ()) -> Tensor:
        """Probabilities of the classes [C] of a node by a full forward pass without these neighbours, or without these
        features of its own."""
        (number,) = self.names.node_numbers([node])
        gone = {"neighbours": self.names.node_numbers(neighbours), "features": self._columns_called(features)}
        scores = self.removal.scores_without(number, gone)[0]
        shares = proportions(scores[None])
        if self.scored.calibration is None:
            return shares[0]
        return torch.from_numpy(self.scored.calibration.probabilities(shares.numpy()))[0]

    def _columns_called(self, features: Sequence[str]) -> list[int]:
        columns = self._feature_shares.columns
        known = [columns.name(number, self.names) for number in range(columns.total)] if features else []
        return find(features, known, "feature")

    @cached_property
    def removal(self) -> Removal:
        """The model without some of what it hears."""
        return Removal(self.trace, self._feature_shares, self.scored.data)

    @property
    def probabilities(self) -> Tensor:
        """Of each class [N, C]."""
        return self.scored.probabilities

    @cached_property
    def capsule_names(self) -> list[str]:
        """What each capsule responds to, beside its number."""
        return capsule_names(self._feature_shares, self.names)

    def with_value(self, feature: str, node: int) -> str:
        """A feature's name, of a number with the node's value: ``price 3.20 (lower than 95 % of all)``."""
        return self._wording.with_value(feature, node)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.scored, self.trace, self._feature_shares, self._neighbours, self._wording)

    @cached_property
    def _neighbours(self) -> Callable[[int], set[int]]:
        return Surroundings(self.scored.data).neighbours

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self._feature_shares.columns, self.names, self.scored.data)

    @cached_property
    def _feature_shares(self) -> FeatureShares:
        return FeatureShares(self.trace)

    def _best_two(self, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The two classes with the highest scores, with scores and probabilities [n, 2]."""
        classes = self._ranked[nodes, :2]
        at = nodes[:, None], classes
        return classes, self.trace.lengths[at], self.probabilities[at]

    def _targets(self, nodes: Tensor, classes: Tensor, against: str | None) -> Targets:
        if against == OTHERS:
            return ahead_of_others(self.trace, nodes, classes)
        other = None if against is None else self._others(nodes, classes, against)
        return make_targets(self.trace, nodes, classes, other)

    def _others(self, nodes: Tensor, classes: Tensor, against: str) -> Tensor:
        if against == RUNNER_UP:
            first, second = self._ranked[nodes, 0], self._ranked[nodes, 1]
            return torch.where(first == classes, second, first)
        other = find([against], [*self.names.classes, RUNNER_UP, OTHERS], "class")[0]
        same = (classes == other).nonzero().flatten().tolist()
        if same:
            node = self.names.nodes[int(nodes[same[0]])]
            raise InputError(
                f"node {node!r} is explained for class {against!r} itself: compare with another class or {RUNNER_UP!r}"
            )
        return torch.full_like(classes, other)


def node_numbers(names: Names, nodes: Sequence[object] | Tensor | None) -> Tensor:
    """Node numbers from ids or, as in PyTorch Geometric, from numbers or a mask; by default all."""
    total = len(names.nodes)
    if nodes is None:
        return torch.arange(total)
    if isinstance(nodes, Tensor):
        return _checked(nodes, total)
    if isinstance(nodes, str) or not hasattr(nodes, "__iter__"):
        raise InputError(f"nodes = {nodes!r}: must be a list of ids")
    return torch.tensor(names.node_numbers(nodes), dtype=torch.int64)


def _checked(nodes: Tensor, total: int) -> Tensor:
    """Node numbers from a tensor of numbers or a mask."""
    is_mask = nodes.dtype == torch.bool
    if is_mask and nodes.shape != (total,):
        raise InputError(f"nodes is a mask of shape {tuple(nodes.shape)}, the graph has {total} nodes")
    if nodes.is_floating_point() and nodes.numel():
        raise InputError(f"nodes is {nodes.dtype}: must be integers or a mask")
    numbers = nodes.nonzero().flatten() if is_mask else nodes.flatten()
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < total:
        raise InputError(f"nodes has numbers from {numbers.min()} to {numbers.max()}, the graph {total} nodes")
    return numbers.to("cpu", torch.int64)
