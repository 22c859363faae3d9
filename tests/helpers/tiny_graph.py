"""A graph of six nodes: a triangle, a tail of two nodes, and a node without edges. A dense matrix shows all of it."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.data import complete
from ncgnn.models import Model, PreparedGraph, RunSettings, Sizes
from ncgnn.train.loop import class_scores

PAIRS = ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4))


def tiny() -> Data:
    ends = torch.tensor(PAIRS).t()
    x = torch.tensor([[1, 0, 2], [0, 1, 0], [3, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 4.0]])
    data = Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1), y=torch.tensor([0, 0, 1, 1, 0, 1]))
    data.train_mask, data.val_mask, data.test_mask = (torch.arange(6) % 3 == part for part in range(3))
    return complete(data)


def plain() -> Tensor:
    """The adjacency matrix."""
    a = torch.zeros(6, 6)
    for i, j in PAIRS:
        a[i, j] = a[j, i] = 1
    return a


def symmetric(a: Tensor) -> Tensor:
    """The matrix normalised on both sides; empty rows stay empty."""
    scale = a.sum(dim=1).pow(-0.5)
    scale[scale.isinf()] = 0
    return scale[:, None] * a * scale


def normalised() -> Tensor:
    """The normalised adjacency matrix with self-loops."""
    return symmetric(plain() + torch.eye(6))


def rows(x: Tensor) -> Tensor:
    """Each row divided by its sum."""
    return x / x.sum(dim=1, keepdim=True)


def built(model: Model, values: dict) -> tuple[nn.Module, Tensor, RunSettings]:
    """A module with random weights, its scores of the tiny graph, and its settings."""
    data, settings = tiny(), model.settings_class.make(values)
    torch.manual_seed(1)
    module = model.build(Sizes.of(data), settings)
    for parameter in module.parameters():  # biases too
        nn.init.uniform_(parameter, -1, 1)
    return module, class_scores(module, model.prepare(PreparedGraph(data), settings)), settings
