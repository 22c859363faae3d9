"""GCN and MLP: the same stack of layers, with and without the graph."""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.init import xavier_uniform_

from ncgnn.sparse import CSR, Dense, LinearOperator


class LayerStack(nn.Module):
    r"""Layers :math:`\mathbf{H}' = \mathrm{ReLU}(\tilde{\mathbf{A}} \mathbf{H} \mathbf{W})`, the last one linear, with
    dropout on the input of each: a GCN (Kipf and Welling, 2017). Without :math:`\tilde{\mathbf{A}}` it is an MLP.

    There are no biases, as in the published code of both.

    Args:
        in_channels: features a node.
        out_channels: classes.
        layers: how many layers, at least one.
        width: size of all layers but the last.
        dropout: probability of dropping an entry of a layer's input in training.

    Shapes:
        - **input:** features [N, f] as an operator; :math:`\tilde{\mathbf{A}}` [N, N], or None for an MLP
        - **output:** class scores [N, C], before the softmax
    """

    def __init__(self, in_channels: int, out_channels: int, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        sizes = [in_channels, *[width] * (layers - 1), out_channels]
        self.weights = nn.ParameterList(xavier_uniform_(_empty(*size)) for size in pairwise(sizes))
        self.dropout = dropout

    def forward(self, x: LinearOperator, a: LinearOperator | None) -> Tensor:
        first, *others = self.weights
        h = _propagate(a, (dropped(x, self.dropout) if self.training else x) @ first)
        for weight in others:
            h = _propagate(a, F.dropout(h.relu(), self.dropout, self.training) @ weight)
        return h


def dropped(x: LinearOperator, rate: float) -> LinearOperator:
    """Features after dropout; a sparse matrix keeps its pattern, and with it the cached transpose."""
    values = x.parameter
    # comparing uniform numbers costs a quarter of torch's dropout, which is most of a step on ten million entries
    kept = values * (torch.rand_like(values) >= rate) / (1 - rate)
    return CSR(x.pattern, kept) if isinstance(x, CSR) else Dense(kept)


def _propagate(a: LinearOperator | None, h: Tensor) -> Tensor:
    return h if a is None else a @ h


def _empty(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(rows, columns))
