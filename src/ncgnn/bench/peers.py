"""The models of PyTorch Geometric that NCGNN is compared with, each with the sizes of its paper.

They get every help a user would give them on one fixed graph: the normalised adjacency is computed once and cached.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import APPNP as Propagation
from torch_geometric.nn import GATConv, GCN2Conv, GCNConv


class GCN(nn.Module):
    """Two layers (Kipf and Welling, 2017)."""

    def __init__(self, in_channels: int, out_channels: int, channels: int = 64, dropout: float = 0.5) -> None:
        super().__init__()
        self.first = GCNConv(in_channels, channels, cached=True)
        self.second = GCNConv(channels, out_channels, cached=True)
        self.dropout = dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.dropout(self.first(x, edge_index).relu(), self.dropout, self.training)
        out: Tensor = self.second(x, edge_index)
        return out


class GAT(nn.Module):
    """Eight heads of eight, then one (Veličković et al., 2018)."""

    def __init__(self, in_channels: int, out_channels: int, heads: int = 8, dropout: float = 0.6) -> None:
        super().__init__()
        self.first = GATConv(in_channels, 8, heads, dropout=dropout)
        self.second = GATConv(8 * heads, out_channels, heads=1, concat=False, dropout=dropout)
        self.dropout = dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.dropout(F.elu(self.first(x, edge_index)), self.dropout, self.training)
        out: Tensor = self.second(x, edge_index)
        return out


class APPNP(nn.Module):
    """Two linear layers, then ten steps of PageRank with alpha 0.1 (Gasteiger et al., 2019)."""

    def __init__(self, in_channels: int, out_channels: int, channels: int = 64, dropout: float = 0.5) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, channels)
        self.second = nn.Linear(channels, out_channels)
        self.propagation = Propagation(K=10, alpha=0.1, cached=True)
        self.dropout = dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.dropout(self.first(x).relu(), self.dropout, self.training)
        out: Tensor = self.propagation(self.second(x), edge_index)
        return out


class GCNII(nn.Module):
    """Sixteen layers of 64 (Chen et al., 2020)."""

    def __init__(
        self, in_channels: int, out_channels: int, channels: int = 64, layers: int = 16, dropout: float = 0.6
    ) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, channels)
        self.layers = nn.ModuleList(
            GCN2Conv(channels, alpha=0.1, theta=0.5, layer=i + 1, cached=True) for i in range(layers)
        )
        self.last = nn.Linear(channels, out_channels)
        self.dropout = dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        start = x = self.first(F.dropout(x, self.dropout, self.training)).relu()
        for layer in self.layers:
            x = layer(F.dropout(x, self.dropout, self.training), start, edge_index).relu()
        out: Tensor = self.last(F.dropout(x, self.dropout, self.training))
        return out


PEERS: dict[str, type[nn.Module]] = {"GCN": GCN, "GAT": GAT, "APPNP": APPNP, "GCNII": GCNII}


def dense(x: Tensor) -> Tensor:
    """Features as these models' users have them."""
    return (x if x.layout == torch.strided else x.to_dense()).contiguous()
