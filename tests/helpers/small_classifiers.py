"""Fixtures: a named graph and one without names, and a classifier that trains in a moment."""

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, split_per_class

SMALL = {
    "hops": 2,
    "num_capsules": 2,
    "primary_channels": 8,
    "class_channels": 4,
    "dropout": 0.2,
    "lr": 0.02,
    "epochs": 15,
}


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    """Settings of a model that trains in a moment."""
    return dict(SMALL)


@pytest.fixture(scope="session")
def karate() -> Data:
    """Named, four classes, sparse features, one split; not to be changed."""
    return split_per_class(load_dataset("karate"), train=3, val=8)


@pytest.fixture
def two_rings() -> Data:
    """A plain PyG graph without any names: two rings of ten nodes, one for each class, with dense noisy features."""
    y = torch.arange(20) % 2
    x = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
    x[:, 0] += 2.0 * y
    there = torch.stack([torch.arange(20), (torch.arange(20) + 2) % 20])
    data = Data(x=x, edge_index=torch.cat([there, there.flip(0)], dim=1), y=y)
    for key, nodes in (("train_mask", range(8)), ("val_mask", range(8, 14)), ("test_mask", range(14, 20))):
        data[key] = torch.zeros(20, dtype=torch.bool)
        data[key][list(nodes)] = True
    return data


@pytest.fixture(scope="session")
def trained(karate) -> NCGNNClassifier:
    """A model trained on the karate club; not to be changed."""
    return NCGNNClassifier(**SMALL).fit(karate)
