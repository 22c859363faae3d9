"""The optimiser."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch


def adam(groups: Iterable[Mapping[str, Any]], lr: float, fused: bool = False) -> torch.optim.Adam:
    """Adam over groups of parameters; empty groups are dropped. The fused form is faster but rounds differently."""
    return torch.optim.Adam([dict(group) for group in groups if group["params"]], lr=lr, fused=fused)


def steps_taken(optimizer: torch.optim.Optimizer) -> int:
    """The number of steps, from Adam's own state: so it goes on in a training that continues from a checkpoint."""
    return max((int(state["step"]) for state in optimizer.state.values()), default=0)
