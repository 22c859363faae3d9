import pytest
import torch
from torch_geometric.data import Data

from ncgnn.data import complete
from ncgnn.experiments.figures import fig3
from ncgnn.models import gcn, ncgnn


@pytest.fixture
def path() -> Data:
    """Five nodes in a row, and a sixth beside the second."""
    there = torch.tensor([[0, 1, 2, 3, 1], [1, 2, 3, 4, 5]])
    y = torch.tensor([0, 0, 1, 1, 1, 0])
    return complete(Data(x=torch.eye(6), edge_index=torch.cat([there, there.flip(0)], dim=1), y=y, name="path"))


@pytest.fixture
def quick(monkeypatch) -> None:
    """Models that are hardly trained."""
    small = ncgnn.Config.make({"hops": [1, 2], "primary_channels": 4, "class_channels": 4, "epochs": 4, "lr": 0.02})
    monkeypatch.setattr(ncgnn.MODEL, "preset", lambda graph, variant: small)
    monkeypatch.setattr(gcn.MODEL, "published", lambda graph, hops=None: gcn.GCNSettings(layers=hops or 2, epochs=4))
    monkeypatch.setitem(fig3.CHANGES["GAT"], "epochs", 2)
