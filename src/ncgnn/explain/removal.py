"""Without which nodes a prediction would fall, with the couplings held fixed.

Contributions are taken along the class capsules as they are. With some nodes gone, these point elsewhere, and another
class may be the nearest behind. So nodes are taken away in turn, first the one without which the class is least ahead
of the best other; then as many at a time as are gone already, so that the last of n nodes comes after log n steps.
"""

import torch
from torch import Tensor

from ncgnn.explain.contributions import row
from ncgnn.explain.trace import Trace


@torch.no_grad()
def decisive(trace: Trace, node: int, chosen_class: int) -> Tensor:
    """The nodes that ``node`` hears, the most decisive first."""
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
    """How far a class is ahead of the best other [n], for class capsules [n, C, f_c]."""
    lengths: Tensor = torch.linalg.vector_norm(u, dim=-1)
    own = lengths[:, chosen_class].clone()
    lengths[:, chosen_class] = -torch.inf
    return own - lengths.amax(dim=1)
