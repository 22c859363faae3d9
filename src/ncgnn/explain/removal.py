"""Find the nodes that a prediction depends on, with couplings held fixed.

Contributions are projections on the current class capsules. When nodes are removed, the capsules change direction, and
another class may become the runner-up. So nodes are removed greedily, first the one whose removal leaves the smallest
lead over the best other class; then in batches of as many as are already removed, so n nodes take log n steps.
"""

import torch
from torch import Tensor

from ncgnn.explain.contributions import row
from ncgnn.explain.trace import Trace


@torch.no_grad()
def decisive(trace: Trace, node: int, chosen_class: int) -> Tensor:
    """The receptive field of ``node``, most decisive nodes first."""
    a = row(trace.a_bar, node)
    heard = a.nonzero().flatten()
    parts = a[heard, None, None] * trace.p[heard]
    u, left, gone = trace.routing.u[node], torch.arange(len(heard)), heard[:0]
    while len(left):
        order = _lead(u - parts[left], chosen_class).argsort(stable=True)
        count = max(1, len(gone))
        next_ones, left = left[order[:count]], left[order[count:]]
        u, gone = u - parts[next_ones].sum(dim=0), torch.cat([gone, next_ones])
    return heard[gone]


def _lead(u: Tensor, chosen_class: int) -> Tensor:
    """The lead of a class over the best other class [n], for class capsules [n, C, f_c]."""
    lengths: Tensor = torch.linalg.vector_norm(u, dim=-1)
    own = lengths[:, chosen_class].clone()
    lengths[:, chosen_class] = -torch.inf
    return own - lengths.amax(dim=1)
