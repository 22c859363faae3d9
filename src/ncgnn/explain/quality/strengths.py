"""The model as a function of the strengths of nodes, in the forms that other explainers ask for."""

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from ncgnn.explain.presence import Subject
from ncgnn.nn import proportions

MODEL = {"mode": "multiclass_classification", "task_level": "node", "return_type": "probs"}


class Heard(torch.nn.Module):
    """Probabilities, given the strength of some nodes [n, 1]; all others are present."""

    def __init__(self, subject: Subject, nodes: Tensor) -> None:
        super().__init__()
        self.subject, self.nodes = subject, nodes

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return _present(self.subject, self.nodes, x)


class HeardThroughEdges(MessagePassing):
    """The same for edges from each of these nodes to one that is explained: the mask of an edge is a strength."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(aggr=None)
        self.subject = subject

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return _present(self.subject, edge_index[0], self.propagate(edge_index, x=x))

    def message(self, x_j: Tensor) -> Tensor:
        return x_j

    def aggregate(self, inputs: Tensor) -> Tensor:
        return inputs


def _present(subject: Subject, nodes: Tensor, strength: Tensor) -> Tensor:
    return proportions(subject.scores(subject.everyone.index_put((nodes,), strength[:, 0])))


def placed(subject: Subject, nodes: Tensor, values: Tensor) -> Tensor:
    """Values of some nodes among all [N]; zero for the others."""
    return torch.zeros_like(subject.everyone).index_put((nodes,), values.detach().to(subject.everyone))
