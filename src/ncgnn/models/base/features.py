"""Prepare features for models."""

import torch
from torch import Tensor


def prepare_features(x: Tensor, normalize: bool) -> Tensor:
    """Features unchanged, or with each row divided by its L1 norm."""
    x = x.to(torch.get_default_dtype())  # the type of the weights
    if not normalize:
        return x
    if x.layout == torch.strided:
        return x / x.abs().sum(dim=1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    counts = x.crow_indices().diff()
    rows = torch.repeat_interleave(torch.arange(x.shape[0], device=x.device), counts)
    sums = x.values().new_zeros(x.shape[0]).index_add(0, rows, x.values().abs())
    out = x.clone()
    out.values().div_(sums[rows].clamp(min=torch.finfo(x.dtype).tiny))
    return out
