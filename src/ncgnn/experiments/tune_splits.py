"""The splits that a search may look at: training and validation labels, no others."""

from copy import copy

import torch
from torch_geometric.data import Data

from ncgnn.data import complete, usual_split
from ncgnn.errors import InputError


def hidden_splits(data: Data, number: int) -> list[Data]:
    """The first splits that are usual for a graph, without the labels of their test nodes."""
    return [hide_test_labels(usual_split(complete(data), seed)) for seed in range(number)]


def hide_test_labels(data: Data) -> Data:
    """The graph with the labels of training and validation nodes alone."""
    if not data.val_mask.any():
        raise InputError(f"graph {data.get('name', '')!r} has no validation nodes: nothing can be tuned")
    out = copy(data)
    out.y = torch.where(data.train_mask | data.val_mask, data.y, -1)
    out.test_mask = torch.zeros_like(data.test_mask)
    return out
