"""How selective routing is among the capsules of a node."""

from dataclasses import dataclass
from math import log

import torch

from ncgnn.explain.trace import Trace


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
