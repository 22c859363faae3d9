"""Targets of explanations: scores of nodes, each as a direction in the space of its class capsules."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.explain.trace import Trace


@dataclass(frozen=True, eq=False)
class Targets:
    r"""Scores that are linear in the class capsules u: of one class of each node, or its lead over other classes.

    Attributes:
        nodes: the nodes [n].
        classes: the class of each node and the classes it is compared with, if any [n, 1 to C].
        direction: :math:`\mathbf{d}_{il} = \mathbf{u}_{il} / \|\mathbf{u}_{il}\|` for each class, zero if u is zero;
            for the classes it is compared with, negated and with lengths that add up to 1 [n, 1 to C, f_c].
    """

    nodes: Tensor
    classes: Tensor
    direction: Tensor

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, which: slice | Tensor) -> "Targets":
        return Targets(self.nodes[which], self.classes[which], self.direction[which])

    def along(self, arrived: Tensor) -> Tensor:
        """Projection of the messages received by all nodes [N, C, f_c] on the direction of each target [n]."""
        return (arrived[self.nodes[:, None], self.classes] * self.direction).sum(dim=(1, 2))

    def heard(self, said: Tensor) -> Tensor:
        """Projection of the messages sent by each node [N, C, f_c] on the direction of each target [N, n]."""
        used, place = self.classes.unique(return_inverse=True)
        whole = self.direction.new_zeros(len(self), len(used), self.direction.shape[-1])
        whole.index_put_((torch.arange(len(self))[:, None], place), self.direction, accumulate=True)
        return said[:, used].flatten(1) @ whole.flatten(1).t()


def make_targets(trace: Trace, nodes: Tensor, classes: Tensor, against: Tensor | None = None) -> Targets:
    """The scores of ``nodes`` for ``classes``, or their lead over the classes ``against``; all [n]."""
    signs = {1.0: classes} if against is None else {1.0: classes, -1.0: against}
    direction = [sign * F.normalize(trace.routing.u[nodes, chosen], dim=-1) for sign, chosen in signs.items()]
    return Targets(nodes, torch.stack(list(signs.values()), dim=1), torch.stack(direction, dim=1))


def ahead_of_others(trace: Trace, nodes: Tensor, classes: Tensor) -> Targets:
    """The lead of ``classes`` over the mean score of all other classes, for ``nodes``."""
    count = trace.scores.shape[1]
    every = torch.arange(count).expand(len(nodes), -1)
    others = every[every != classes[:, None]].view(len(nodes), -1)
    chosen = torch.cat([classes[:, None], others], dim=1)
    weight = torch.tensor([1.0, *[-1 / (count - 1)] * (count - 1)]).to(trace.routing.u)
    direction = weight[:, None] * F.normalize(trace.routing.u[nodes[:, None], chosen], dim=-1)
    return Targets(nodes, chosen, direction)
