"""APPNP (Gasteiger et al., 2019): predict, then propagate."""

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.nn import APPNP as Propagation

from ncgnn.models.base.model import OnNormalizedEdges, Sizes
from ncgnn.models.base.settings import TrainingSettings


class APPNPSettings(TrainingSettings):
    """The settings of APPNP."""

    width: int = Field(64, ge=1, le=4096, description="size of the hidden layer")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    steps: int = Field(10, ge=1, le=1000, description="steps of PageRank")
    alpha: float = Field(0.1, gt=0, lt=1, description="teleport probability")


class APPNP(nn.Module):
    """Two linear layers, then PageRank."""

    def __init__(self, in_channels: int, out_channels: int, settings: APPNPSettings) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, settings.width)
        self.second = nn.Linear(settings.width, out_channels)
        self.propagation = Propagation(settings.steps, settings.alpha, normalize=False)
        self.dropout = settings.dropout

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.dropout(self.first(x).relu(), self.dropout, self.training)
        out: Tensor = self.propagation(self.second(x), edge_index, edge_weight)
        return out


class APPNPModel(OnNormalizedEdges[APPNPSettings]):
    """With the sizes of its paper by default."""

    name, title, settings_class = "appnp", "APPNP", APPNPSettings
    measured = 5

    def build(self, sizes: Sizes, settings: APPNPSettings) -> APPNP:
        return APPNP(sizes.features, sizes.classes, settings)


MODEL = APPNPModel()
