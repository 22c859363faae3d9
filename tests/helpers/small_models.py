"""Filters of every kind, and models small enough to be checked by hand."""

from typing import Any

import torch

import ncgnn

SMALL = {"num_capsules": 3, "primary_channels": 8, "class_channels": 4, "dropout": 0.2, "lr": 0.02, "beta": 5.0}

FILTERS: dict[str, dict[str, Any]] = {
    "attention": {"hops": [0, 1, 3]},
    "truncated": {"filter": "diffusion", "steps": 4},
    "heat": {"filter": "diffusion", "diffusion": "heat", "time": 2.0},
    "exact": {"filter": "diffusion"},
    "attention, top 4": {"hops": 3, "top_k": 4},
    "attention, threshold": {"hops": 3, "epsilon": 0.05},
    "exact, top 4": {"filter": "diffusion", "top_k": 4},
}


def small_model(filter: ncgnn.AttentionFilter | ncgnn.DiffusionFilter) -> ncgnn.NCGNN:
    """Six features, three capsules, two classes, and no weight or bias that is zero."""
    torch.manual_seed(0)
    model = ncgnn.NCGNN(6, 2, filter, num_capsules=3, primary_channels=4, class_channels=5, beta=5.0).eval()
    torch.nn.init.normal_(model.layers[0].bias)
    torch.nn.init.normal_(model.primary.bias)
    return model
