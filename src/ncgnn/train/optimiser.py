"""The optimiser."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch


def adam(groups: Iterable[Mapping[str, Any]], lr: float, fused: bool = False) -> torch.optim.Adam:
    """Adam over groups of parameters; those without any are left out. The fused form is faster and rounds otherwise."""
    return torch.optim.Adam([dict(group) for group in groups if group["params"]], lr=lr, fused=fused)
