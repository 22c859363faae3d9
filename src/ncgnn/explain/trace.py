"""One forward pass, with everything that explanations need, and how selective its routing is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import cast

import torch
from torch import Tensor

from ncgnn.errors import InputError
from ncgnn.explain.groups import TracedGroup, names_of
from ncgnn.nn import NCGNN, CapsuleGraphLayer, PreparedFilter, Routing, squash
from ncgnn.nn.model import each
from ncgnn.nn.routing import lengths
from ncgnn.scored import Scored
from ncgnn.sparse import LinearOperator, as_operator

Prepared = PreparedFilter | Sequence[PreparedFilter]
"""The prepared filter, or that of each group."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The intermediate results of a model on a graph.

    Attributes:
        model: the model.
        groups: its groups of capsules; most models have one.
        scores: lengths of the class capsules [N, C].
        routing: the last iteration of routing.
    """

    model: NCGNN
    groups: Sequence[TracedGroup]
    scores: Tensor
    routing: Routing

    @property
    def x(self) -> LinearOperator:
        """The input of the first group [N, f]."""
        return self.groups[0].x

    @property
    def prepared(self) -> PreparedFilter:
        """The prepared filter of the first group."""
        return self.groups[0].prepared

    @property
    def a_bar(self) -> LinearOperator:
        """The filter of the first group."""
        return self.groups[0].a_bar

    @property
    def routed(self) -> list[TracedGroup]:
        """All groups but that of beliefs, which is not routed."""
        return [group for group in self.groups if group.primary is not None]

    @property
    def layer(self) -> CapsuleGraphLayer:
        return cast(CapsuleGraphLayer, self.model.layers[-1])

    @property
    def bias(self) -> Tensor:
        """b_l [C, f_c]."""
        return self.layer.bias.detach()

    @property
    def p(self) -> Tensor:
        """The message of the first group."""
        return self.messages[0]

    @cached_property
    def messages(self) -> list[Tensor]:
        """The message of each node for each class, of each group [N, C, f_c] (equation 8)."""
        return [self._message(group.capsules) for group in self.groups]

    def _message(self, capsules: range) -> Tensor:
        said = self.said_by(capsules[0])
        for k in capsules[1:]:
            said += self.said_by(k)
        return said

    def said_by(self, k: int) -> Tensor:
        """The share of :attr:`messages` that comes from capsule ``k`` of each node."""
        return self.routing.couplings[:, k].unsqueeze(-1) * self.routing.votes[:, k]

    @cached_property
    def arrived(self) -> list[Tensor]:
        """What arrives at each node for each class, from each group [N, C, f_c]."""
        if len(self.groups) == 1:
            return [self.routing.u - self.bias]
        pairs = zip(self.groups, self.messages, strict=True)
        return [group.a_bar.product(said.flatten(1)).view_as(said) for group, said in pairs]

    @cached_property
    def believed(self) -> Tensor | None:
        """The class of each node as the other groups predict it, which beliefs use [N]; ``None`` without beliefs."""
        beliefs = self.model.beliefs
        if beliefs is None:
            return None
        scores = lengths(squash(self.routing.u - self.arrived[-1]))
        return beliefs.shares(self.groups[-1].x, scores).argmax(dim=1)

    @cached_property
    def lengths(self) -> Tensor:
        """Lengths of the class capsules before squashing [N, C]: the scores that contributions add up to."""
        length: Tensor = torch.linalg.vector_norm(self.routing.u, dim=-1)
        return length


@torch.no_grad()
def trace_scored(scored: Scored) -> Trace:
    """What the model computed for a graph, as it was kept."""
    model, routing = scored.module, scored.routing
    if routing is None or not isinstance(model, NCGNN):
        raise InputError(f"{scored.model} cannot be explained: train NCGNN for explained predictions")
    check_explained(model)
    x, prepared = scored.inputs.arguments
    return Trace(model, _traced_groups(model, x, prepared), scored.scores, routing)


def _traced_groups(
    model: NCGNN, x: Tensor | LinearOperator | Sequence[Tensor | LinearOperator], prepared: Prepared
) -> list[TracedGroup]:
    inputs = [as_operator(one) for one in each(x)]
    names = names_of(model.groups)
    parts = zip(names, model.groups, inputs, each(prepared), model.filters(inputs, prepared), strict=True)
    found: list[TracedGroup] = []
    for name, group, read, ready, a_bar in parts:
        first = found[-1].capsules.stop if found else 0
        found.append(TracedGroup(name, group, read, ready, a_bar, range(first, first + group.num_capsules)))
    return found


def is_explained(scored: Scored) -> bool:
    """Whether the model can be explained: it is an NCGNN without hidden capsule layers."""
    return scored.routing is not None and isinstance(scored.module, NCGNN) and len(scored.module.layers) == 1


def check_explained(model: NCGNN) -> None:
    """Check that the model has no hidden capsule layers."""
    if len(model.layers) > 1:
        raise InputError(
            f"only models without hidden capsule layers can be explained; this one has {len(model.layers) - 1}: "
            "train one with hidden = []"
        )


@torch.no_grad()
def trace_model(
    model: NCGNN, x: Tensor | LinearOperator | Sequence[Tensor | LinearOperator], prepared: Prepared
) -> Trace:
    """A forward pass without dropout."""
    check_explained(model)
    was_training = model.training
    model.eval()
    try:
        groups = _traced_groups(model, x, prepared)
        scores, routing = model([group.x for group in groups], prepared, return_routing=True)
        return Trace(model, groups, scores, routing)
    finally:
        model.train(was_training)


@dataclass(frozen=True)
class Selection:
    """Couplings over all nodes and classes.

    Attributes:
        capsules: number of capsules per node, K.
        entropy: mean entropy relative to uniform couplings: 1 if all capsules have equal weight, 0 if one has all.
        mean_largest: mean of the largest coupling.
        largest: the overall maximum.
    """

    capsules: int
    entropy: float
    mean_largest: float
    largest: float

    def __str__(self) -> str:
        return (
            f"Routing among {self.capsules} capsules: entropy {self.entropy:.3f} relative to uniform couplings; the "
            f"largest coupling is {self.mean_largest:.3f} on average and {self.largest:.3f} at most (uniform: "
            f"{1 / self.capsules:.3f})."
        )


def selection(trace: Trace) -> Selection:
    """Selectivity of the model's routing on this graph."""
    return selection_of([trace.routing.couplings[:, : trace.routed[-1].capsules.stop]])


@torch.no_grad()
def selection_of(blocks: Iterable[Tensor]) -> Selection:
    """The same for couplings that are given in blocks of nodes [n, K, C]."""
    nodes, capsules, entropy, total, most = 0, 1, 0.0, 0.0, 0.0
    for c in blocks:
        largest, nodes, capsules = c.amax(dim=1), nodes + len(c), c.shape[1]
        entropy += len(c) * torch.special.entr(c).sum(dim=1).mean().item()
        total, most = total + len(c) * largest.mean().item(), max(most, largest.max().item())
    return Selection(capsules, entropy / nodes / log(capsules) if capsules > 1 else 1.0, total / nodes, most)
