"""Primary node capsules (equation 3)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ncgnn.sparse import CSR


class PrimaryCapsules(nn.Module):
    r"""Each node becomes ``num_capsules`` unit vectors, one for each of K learned subspaces (equation 3):

    .. math::
        \mathbf{h}_i^{(k)} = \frac{\sigma(\dot{\mathbf{W}}_k \mathbf{x}_i + \dot{\mathbf{b}}_k)}
        {\|\sigma(\dot{\mathbf{W}}_k \mathbf{x}_i + \dot{\mathbf{b}}_k)\|}, \quad \sigma = \mathrm{ReLU}.

    A capsule whose ReLU output is zero stays zero. Dropout follows the normalisation.

    Args:
        in_channels: features a node, f.
        num_capsules: K.
        channels: size of a capsule, f_p.
        dropout: probability of dropping a capsule's entry in training.

    Shapes:
        - **input:** node features [N, f], dense or ``torch.sparse_csr``
        - **output:** capsules [N, K, f_p]
    """

    def __init__(self, in_channels: int, num_capsules: int, channels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.num_capsules = num_capsules
        self.channels = channels
        self.dropout = dropout
        self.weight = nn.Parameter(torch.empty(num_capsules, channels, in_channels))
        self.bias = nn.Parameter(torch.empty(num_capsules, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in_channels)
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        w = self.weight.flatten(0, 1).t()  # [f, K f_p]
        wx = CSR.from_torch(x) @ w if x.layout == torch.sparse_csr else x @ w
        h = F.relu(wx.unflatten(1, (self.num_capsules, self.channels)) + self.bias)
        return F.dropout(F.normalize(h, dim=-1), self.dropout, self.training)

    def __repr__(self) -> str:
        return (
            f"{self.__class__.__name__}({self.in_channels}, num_capsules={self.num_capsules}, "
            f"channels={self.channels}, dropout={self.dropout})"
        )
