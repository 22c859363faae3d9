"""Lengths of class capsules as shares of one."""

import torch
from torch import Tensor


def proportions(lengths: Tensor) -> Tensor:
    """Lengths divided by their sum over the last dimension; equal shares for a node that nothing speaks for."""
    total = lengths.sum(dim=-1, keepdim=True)
    shares = lengths / total.clamp(min=torch.finfo(lengths.dtype).tiny)
    return torch.where(total > 0, shares, 1 / lengths.shape[-1])
