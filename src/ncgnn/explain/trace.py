"""One forward pass, with everything that explanations need, and how selective its routing is."""

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import cast

import torch
from torch import Tensor

from ncgnn.errors import InputError
from ncgnn.nn import NCGNN, CapsuleGraphLayer, PreparedFilter, Routing
from ncgnn.scored import Scored
from ncgnn.sparse import LinearOperator, as_operator


@dataclass(frozen=True, eq=False)
class Trace:
    """The intermediate results of a model on a graph.

    Attributes:
        model: the model.
        x: the features [N, f].
        prepared: the prepared filter.
        a_bar: the filter as an operator.
        scores: lengths of the class capsules [N, C].
        routing: the last iteration of routing.
    """

    model: NCGNN
    x: LinearOperator
    prepared: PreparedFilter
    a_bar: LinearOperator
    scores: Tensor
    routing: Routing

    @property
    def layer(self) -> CapsuleGraphLayer:
        return cast(CapsuleGraphLayer, self.model.layers[-1])

    @property
    def bias(self) -> Tensor:
        """b_l [C, f_c]."""
        return self.layer.bias.detach()

    @cached_property
    def p(self) -> Tensor:
        """The message of each node for each class [N, C, f_c] (equation 8)."""
        said = self.said_by(0)
        for k in range(1, self.model.primary.num_capsules):
            said += self.said_by(k)
        return said

    def said_by(self, k: int) -> Tensor:
        """The share of :attr:`p` that comes from capsule ``k`` of each node."""
        return self.routing.couplings[:, k].unsqueeze(-1) * self.routing.votes[:, k]

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
    return Trace(model, as_operator(x), prepared, model.filter(prepared), scored.scores, routing)


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
def trace_model(model: NCGNN, x: Tensor | LinearOperator, prepared: PreparedFilter) -> Trace:
    """A forward pass without dropout."""
    check_explained(model)
    x, was_training = as_operator(x), model.training
    model.eval()
    try:
        scores, routing = model(x, prepared, return_routing=True)
        return Trace(model, x, prepared, model.filter(prepared), scores, routing)
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


@torch.no_grad()
def selection(trace: Trace) -> Selection:
    """Selectivity of the model's routing on this graph."""
    c = trace.routing.couplings
    largest, capsules = c.amax(dim=1), c.shape[1]
    entropy = torch.special.entr(c).sum(dim=1).mean().item() / log(capsules) if capsules > 1 else 1.0
    return Selection(capsules, entropy, largest.mean().item(), largest.max().item())
