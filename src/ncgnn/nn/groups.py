r"""Groups of capsules: each reads an input of its own and has a filter of its own; all are routed together.

.. math::
    \mathbf{u}_i^{(l)} = \sum_g \sum_j \bar{a}_{ij}^{(g)} \sum_{k \in g} c_{jkl} \mathbf{W}_{kl} \mathbf{h}_j^{(k)}
    + \mathbf{b}_l

With one group this is equation 9. Couplings sum to one over the capsules of all groups.
"""

import torch
from torch import Tensor, nn

from ncgnn.nn.capsules import PrimaryCapsules
from ncgnn.nn.filter import GraphFilter
from ncgnn.nn.routing import Routing, lengths, squash
from ncgnn.sparse import LinearOperator


class CapsuleGroup(nn.Module):
    """Capsules of one input, such as features or rows of links.

    Args:
        name: what explanations call it.
        primary: the capsules of each node.
        filter: which nodes to receive them from.
    """

    def __init__(self, name: str, primary: PrimaryCapsules, filter: GraphFilter) -> None:
        super().__init__()
        self.name, self.primary, self.filter = name, primary, filter

    @property
    def num_capsules(self) -> int:
        return self.primary.num_capsules

    def reset_parameters(self) -> None:
        self.primary.reset_parameters()
        self.filter.reset_parameters()


class Beliefs(nn.Module):
    r"""Adds what the classes of neighbours say, as far as the other groups know them:

    .. math::
        \mathbf{u}_i^{(l)} \leftarrow \mathbf{u}_i^{(l)} + \sum_j \bar{a}_{ij} \sum_k \pi_{jk} \mathbf{m}_{kl},
        \qquad \pi_j = \operatorname{softmax}(\tau \|\mathbf{v}_j\|)

    For nodes of known class :math:`\pi_j` is that class. The vectors :math:`\mathbf{m}_{kl}` say how well a neighbour
    of class k goes with class l; they start at zero. A node's own class must not reach its own score, so the filter
    is one hop without self-loops, and beliefs are added after the last iteration: routed like the others, they would
    change couplings, and these the messages of the node to itself and back.

    Args:
        num_classes: C.
        channels: size of a class capsule, f_c.
        filter: of hop 1, without self-loops.
        sharpness: :math:`\tau`.
        scale: factor of :math:`\mathbf{m}_{kl}`.
        name: what explanations call it.

    Shapes:
        - **input:** known classes [N, C], a row of zeros where unknown, and the routing of the other groups
        - **output:** the routing with the beliefs as C further capsules, with couplings of one
    """

    def __init__(
        self,
        num_classes: int,
        channels: int,
        filter: GraphFilter,
        sharpness: float = 10.0,
        scale: float = 1.0,
        name: str = "beliefs",
    ) -> None:
        super().__init__()
        if filter.has_loops or list(filter.hops) != [1]:
            raise ValueError("beliefs need a filter of hop 1 without self-loops: a node's own class would leak")
        self.name, self.filter, self.num_capsules = name, filter, num_classes
        self.sharpness, self.scale = sharpness, scale
        self.weight = nn.Parameter(torch.empty(num_classes, num_classes, channels))  # m
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.weight)
        self.filter.reset_parameters()

    def shares(self, known: LinearOperator, scores: Tensor) -> Tensor:
        r""":math:`\pi` [N, C]."""
        classes = known.parameter
        return torch.where(classes.sum(dim=1, keepdim=True) > 0, classes, (self.sharpness * scores).softmax(dim=1))

    def messages(self, known: LinearOperator, scores: Tensor, a_bar: LinearOperator) -> Tensor:
        """What they add to u [N, C, f_c], without the vote of each capsule."""
        said = self.scale * self.shares(known, scores) @ self.weight.flatten(1)
        return a_bar @ said.view(len(said), *self.weight.shape[1:])

    def forward(self, known: LinearOperator, base: Routing, a_bar: LinearOperator) -> Routing:
        votes = self.scale * self.shares(known, lengths(base.capsules))[:, :, None, None] * self.weight
        u = base.u + a_bar @ votes.sum(dim=1)
        couplings = torch.cat([base.couplings, torch.ones_like(votes[..., 0])], dim=1)
        return Routing(squash(u), couplings, u, torch.cat([base.votes, votes], dim=1))
