"""What is explained: scores of nodes, each as a direction in the space of its class capsules."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.explain.trace import Trace


@dataclass(frozen=True, eq=False)
class Targets:
    r"""Scores that are linear in the class capsules u: one class of each node, or the difference of two.

    Attributes:
        nodes: which nodes [n].
        classes: the class of each [n, 1], or the two that are compared [n, 2].
        direction: :math:`\mathbf{d}_{il} = \mathbf{u}_{il} / \|\mathbf{u}_{il}\|` for each class, zero where u is; that
            of the second with its sign turned [n, 1 or 2, f_c].
    """

    nodes: Tensor
    classes: Tensor
    direction: Tensor

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, which: slice | Tensor) -> "Targets":
        return Targets(self.nodes[which], self.classes[which], self.direction[which])

    def along(self, arrived: Tensor) -> Tensor:
        """How far what arrived at all nodes [N, C, f_c] goes in the direction of each target [n]."""
        return (arrived[self.nodes[:, None], self.classes] * self.direction).sum(dim=(1, 2))

    def heard(self, said: Tensor) -> Tensor:
        """How far what each node says to all [N, C, f_c] goes in the direction of each target [N, n]."""
        used, place = self.classes.unique(return_inverse=True)
        whole = self.direction.new_zeros(len(self), len(used), self.direction.shape[-1])
        whole.index_put_((torch.arange(len(self))[:, None], place), self.direction, accumulate=True)
        return said[:, used].flatten(1) @ whole.flatten(1).t()


def make_targets(trace: Trace, nodes: Tensor, classes: Tensor, against: Tensor | None = None) -> Targets:
    """The scores of ``nodes`` for ``classes``, or what these are ahead of the classes ``against``; all [n]."""
    signs = {1.0: classes} if against is None else {1.0: classes, -1.0: against}
    direction = [sign * F.normalize(trace.routing.u[nodes, chosen], dim=-1) for sign, chosen in signs.items()]
    return Targets(nodes, torch.stack(list(signs.values()), dim=1), torch.stack(direction, dim=1))
