"""An NCGNN whose filter passes messages along the edges of the graph, so that PyG's explainers can mask edges."""

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from ncgnn.explain.presence import Subject
from ncgnn.nn import proportions, route
from ncgnn.sparse import CSR, Polynomial


class HopByHop(MessagePassing):
    """The same probabilities as the model, with one round of message passing per hop, along edges and self-loops."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(aggr="add")
        self.trace = subject.trace
        a_bar = self.trace.a_bar
        assert isinstance(a_bar, Polynomial)
        self.xi = a_bar.coefficients.tolist()
        loops = torch.arange(a_bar.shape[0])
        self.ends = torch.cat([subject.edge_index, loops.expand(2, -1)], dim=1)
        self.weight = entries(a_bar.base, self.ends)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        layer, votes = self.trace.layer, self.trace.routing.votes.detach()
        capsules = route(votes, self, self.trace.bias, layer.iterations, layer.beta).capsules
        return proportions(torch.linalg.vector_norm(capsules, dim=-1))

    def __matmul__(self, said: Tensor) -> Tensor:
        power: Tensor = said.flatten(1)
        total: Tensor = self.xi[0] * power
        for xi in self.xi[1:]:
            power = self.propagate(self.ends, x=power, weight=self.weight)
            total = total + xi * power
        return total.view_as(said)

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight[:, None] * x_j


def entries(matrix: CSR, ends: Tensor) -> Tensor:
    """The entries of a sparse matrix for edges (source, target) [2, E]."""
    coo = matrix.to_torch().to_sparse_coo().coalesce()
    target, source = coo.indices()
    places = target * matrix.shape[1] + source  # in ascending order
    found: Tensor = coo.values()[torch.searchsorted(places, ends[1] * matrix.shape[1] + ends[0])]
    return found
