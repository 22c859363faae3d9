r"""Predictions of a model with some nodes removed.

Removing node j means zeroing its column of the filter, of every group of capsules, and rerunning the routing, so
couplings and beliefs respond to the change. Features and rows of links are not changed, because equation 3 normalises
them: a scaled row gives the same capsules, and with a bias even a row of zeros gives capsules of length one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ncgnn.explain.trace import Trace
from ncgnn.nn import Routing, proportions
from ncgnn.nn.kernels.routing import fused_route
from ncgnn.sparse import LinearOperator


class Present(LinearOperator):
    r""":math:`\bar{\mathbf{A}} \operatorname{diag}(\mathbf{m})`, as a function of the node strengths m [N]."""

    def __init__(self, a_bar: LinearOperator, m: Tensor) -> None:
        self.a_bar, self.m = a_bar, m

    @property
    def shape(self) -> tuple[int, int]:
        return self.a_bar.shape

    @property
    def parameter(self) -> Tensor:
        return self.m

    def product(self, dense: Tensor) -> Tensor:
        return self.a_bar.product(self.m.detach()[:, None] * dense)

    def gradients(self, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        back = self.a_bar.gradients(dense, grad, False)[1]
        return (back * dense).sum(dim=1) if of_parameter else None, back * self.m.detach()[:, None]


@dataclass(frozen=True, eq=False)
class Subject:
    """A model on a graph that can be rerun with some nodes weakened or removed."""

    trace: Trace
    edge_index: Tensor

    @cached_property
    def everyone(self) -> Tensor:
        return torch.ones_like(self.trace.scores[:, 0])

    @cached_property
    def predicted(self) -> Tensor:
        """The predicted class of each node [N]."""
        return self.trace.scores.argmax(dim=1)

    @cached_property
    def probabilities(self) -> Tensor:
        """Probabilities of all classes [N, C], with all nodes present."""
        return proportions(self.trace.scores)

    def scores(self, presence: Tensor) -> Tensor:
        """Lengths of the class capsules [N, C], differentiable in the node strengths [N]."""
        return self.routed([Present(group.a_bar, presence) for group in self.trace.groups])[0]

    def routed(self, filters: Sequence[LinearOperator], votes: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Lengths of the class capsules after and before squashing [N, C], with other filters or other votes: routing
        runs again."""
        found = self.route(filters, votes)
        after, before = (torch.linalg.vector_norm(capsules, dim=-1) for capsules in (found.capsules, found.u))
        return after, before

    def route(self, filters: Sequence[LinearOperator], votes: Tensor | None = None) -> Routing:
        """The same with all that routing leaves."""
        trace, layer, routed = self.trace, self.trace.layer, self.trace.routed
        votes = trace.routing.votes.detach() if votes is None else votes
        votes = votes[:, : routed[-1].capsules.stop]
        sizes, few = [len(group.capsules) for group in routed], filters[: len(routed)]
        v, c, u = fused_route(votes, few, trace.bias, layer.iterations, layer.beta, None, sizes)
        found = Routing(v, c, u, votes)
        beliefs = trace.model.beliefs
        return found if beliefs is None else beliefs(trace.groups[-1].x, found, filters[-1])
