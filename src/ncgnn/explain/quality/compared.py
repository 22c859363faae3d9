"""Methods that rank nodes by importance for a prediction: the model's contributions, and others."""

from collections.abc import Callable
from functools import reduce
from math import prod

import torch
from torch import Tensor
from torch_geometric.explain import Explainer, GNNExplainer

from ncgnn.explain.contributions import by_node, decisive, filter_rows
from ncgnn.explain.presence import Subject
from ncgnn.explain.quality.hop_by_hop import HopByHop
from ncgnn.explain.targets import ahead_of_others
from ncgnn.nn import proportions
from ncgnn.sparse import Polynomial

Ranking = Callable[[Subject, int], Tensor]
"""The importance of each node [N] for what is predicted of one; chance comes from torch's generator."""

OURS, SORTED = "contributions in turn", "contributions"
STEPS = 16
"""Number of points for integrated gradients."""

MOST_EDGES = 10_000
"""Maximum number of edges for GNNExplainer's edge masks; with more, they take over a minute per node."""

MOST_ENTRIES = 1 << 28
"""Maximum number of entries of a group's input for gradients with respect to it, which need it as a dense matrix."""

MODEL = {"mode": "multiclass_classification", "task_level": "node", "return_type": "probs"}


def in_turn(subject: Subject, node: int) -> Tensor:
    """Nodes in the order in which :func:`~ncgnn.explain.contributions.decisive` removes them."""
    order = decisive(subject.trace, node, int(subject.predicted[node]))
    places = torch.arange(len(order), 0, -1).to(subject.everyone)
    return torch.zeros_like(subject.everyone).index_copy(0, order, places)


def contributions(subject: Subject, node: int) -> Tensor:
    """Contributions to the lead of the predicted class over the others."""
    nodes = torch.tensor([node])
    return by_node(subject.trace, ahead_of_others(subject.trace, nodes, subject.predicted[nodes]))[0]


def gnn_explainer(subject: Subject, node: int) -> Tensor:
    """PyG's GNNExplainer with its defaults, which learns the strength of each node: what removal sets to zero."""
    explainer = Explainer(_Heard(subject), GNNExplainer(), "model", MODEL, node_mask_type="object")
    mask: Tensor = explainer(subject.everyone[:, None], subject.edge_index, index=node).node_mask
    return mask[:, 0]


def gnn_explainer_of_edges(subject: Subject, node: int) -> Tensor:
    """The same with an edge mask, its most common use: a node is as important as its most important edge."""
    explainer = Explainer(HopByHop(subject), GNNExplainer(), "model", MODEL, edge_mask_type="object")
    mask = explainer(subject.everyone[:, None], subject.edge_index, index=node).edge_mask
    ends = subject.edge_index.flatten()
    return torch.zeros_like(subject.everyone).scatter_reduce(0, ends, mask.repeat(2), "amax")


def integrated_gradients(subject: Subject, node: int) -> Tensor:
    """Gradients of the probability with respect to the strength of each node, integrated from zero to full strength."""
    points = ((step + 0.5) / STEPS * subject.everyone for step in range(STEPS))
    return torch.stack([_gradient(subject, node, point) for point in points]).mean(dim=0)


def input_times_gradient(subject: Subject, node: int) -> Tensor:
    """Gradients of the probability with respect to the features, times the features, in magnitude: with signs they
    nearly cancel, because capsules do not depend on the scale of the features."""
    trace = subject.trace
    x = [feature_leaf(subject, place) for place in range(len(trace.routed))]
    scores = trace.model(
        [*x, *(group.x for group in trace.groups[len(x) :])], [group.prepared for group in trace.groups]
    )
    gradients = torch.autograd.grad(proportions(scores[node])[subject.predicted[node]], x)
    parts = ((gradient * one.detach()).abs().sum(dim=1) for gradient, one in zip(gradients, x, strict=True))
    return reduce(torch.add, parts)


def filter_weights(subject: Subject, node: int) -> Tensor:
    """Added up over groups."""
    return reduce(torch.add, filter_rows(subject.trace, node))


def chance(subject: Subject, node: int) -> Tensor:
    return torch.rand_like(subject.everyone)


def rankings(subject: Subject) -> dict[str, Ranking]:
    """All methods that can be compared on a graph."""
    found: dict[str, Ranking] = {OURS: in_turn, SORTED: contributions, "GNNExplainer": gnn_explainer}
    is_one = len(subject.trace.groups) == 1
    if is_one and isinstance(subject.trace.a_bar, Polynomial) and subject.edge_index.shape[1] <= MOST_EDGES:
        found["GNNExplainer, edges"] = gnn_explainer_of_edges
    others: dict[str, Ranking] = {
        "integrated gradients": integrated_gradients,
        "input times gradient": input_times_gradient,
        "filter weights": filter_weights,
        "random": chance,
    }
    if not is_one and any(prod(group.x.shape) > MOST_ENTRIES for group in subject.trace.routed):
        del others["input times gradient"]
    return found | others


def feature_leaf(subject: Subject, place: int = 0) -> Tensor:
    """The dense input of a group, which requires a gradient."""
    return subject.trace.groups[place].x.to_dense().detach().requires_grad_()


def _gradient(subject: Subject, node: int, presence: Tensor) -> Tensor:
    presence = presence.clone().requires_grad_()
    probability = proportions(subject.scores(presence)[node])[subject.predicted[node]]
    return torch.autograd.grad(probability, presence)[0]


class _Heard(torch.nn.Module):
    """The model as a function of the strength of each node [N, 1]."""

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self.subject = subject

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return proportions(self.subject.scores(x[:, 0]))
