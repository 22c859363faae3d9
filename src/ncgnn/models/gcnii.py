"""GCNII (Chen et al., 2020): many layers with initial residual connections."""

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.nn import GCN2Conv

from ncgnn.models.base.model import OnNormalizedEdges, Sizes
from ncgnn.models.base.settings import TrainingSettings


class GCNIISettings(TrainingSettings):
    """The settings of GCNII."""

    layers: int = Field(16, ge=1, le=256, description="number of convolutions")
    width: int = Field(64, ge=1, le=4096, description="size of each layer")
    dropout: float = Field(0.6, ge=0, lt=1, description="dropout rate on the input of each layer")
    alpha: float = Field(0.1, ge=0, lt=1, description="share of the first layer in each")
    theta: float = Field(0.5, gt=0, description="strength of the weights, which falls with depth")


class GCNII(nn.Module):
    """A linear layer, the convolutions, a linear layer."""

    def __init__(self, in_channels: int, out_channels: int, settings: GCNIISettings) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, settings.width)
        self.layers = nn.ModuleList(
            GCN2Conv(settings.width, settings.alpha, settings.theta, layer=i + 1, normalize=False)
            for i in range(settings.layers)
        )
        self.last = nn.Linear(settings.width, out_channels)
        self.dropout = settings.dropout

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        start = x = self.first(F.dropout(x, self.dropout, self.training)).relu()
        for layer in self.layers:
            x = layer(F.dropout(x, self.dropout, self.training), start, edge_index, edge_weight).relu()
        out: Tensor = self.last(F.dropout(x, self.dropout, self.training))
        return out


class GCNIIModel(OnNormalizedEdges[GCNIISettings]):
    """With the sizes of its paper by default."""

    name, title, settings_class = "gcnii", "GCNII", GCNIISettings
    measured = 6

    def build(self, sizes: Sizes, settings: GCNIISettings) -> GCNII:
        return GCNII(sizes.features, sizes.classes, settings)


MODEL = GCNIIModel()
