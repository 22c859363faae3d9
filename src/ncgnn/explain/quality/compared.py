"""Methods that rank nodes by importance for a prediction: the model's contributions, and others."""

from collections.abc import Callable, Sequence
from functools import reduce
from importlib.util import find_spec
from math import prod

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.explain import Explainer, GNNExplainer

from ncgnn.explain.contributions import by_node, decisive, weights_heard
from ncgnn.explain.presence import Subject
from ncgnn.explain.quality.hop_by_hop import HopByHop
from ncgnn.explain.quality.measures import field
from ncgnn.explain.quality.pg_explainer import TrainedPGExplainer
from ncgnn.explain.quality.pgm_explainer import pgm_explainer
from ncgnn.explain.quality.shapley import FEW, captum_gradients, captum_shapley, exact_shapley
from ncgnn.explain.quality.strengths import MODEL, Heard
from ncgnn.explain.targets import ahead_of_others
from ncgnn.nn import proportions
from ncgnn.sparse import Polynomial

Ranking = Callable[[Subject, int], Tensor]
"""The importance of each node [N] for what is predicted of one; chance comes from torch's generator."""

OURS, SORTED, EXACT = "contributions in turn", "contributions", "exact Shapley values"
STEPS = 16
"""Number of points for integrated gradients."""

MOST_EDGES = 10_000
"""Maximum number of edges for GNNExplainer's edge masks; with more, they take over a minute per node."""

MOST_ENTRIES = 1 << 28
"""Maximum number of entries of a group's input for gradients with respect to it, which need it as a dense matrix."""

RESTART, STEPS_OF_WALKS = 0.15, 50
"""Of personalised PageRank."""


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
    everyone = torch.arange(len(subject.everyone))
    explainer = Explainer(Heard(subject, everyone), GNNExplainer(), "model", MODEL, node_mask_type="object")
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
    return reduce(torch.add, weights_heard(subject.trace, node))


def personal_pagerank(subject: Subject, node: int) -> Tensor:
    """The time that a random walk from the node, which often starts again, spends at each node."""
    nodes, (source, target) = len(subject.everyone), subject.edge_index.numpy()
    a = sp.csr_array((np.ones(len(source)), (target, source)), shape=(nodes, nodes))
    degree = torch.from_numpy(a.sum(axis=0)).clamp(min=1)
    start = torch.zeros(nodes, dtype=torch.float64).index_fill(0, torch.tensor(node), 1.0)
    rank = start
    for _ in range(STEPS_OF_WALKS):
        rank = RESTART * start + (1 - RESTART) * torch.from_numpy(a @ (rank / degree).numpy())
    return rank.to(subject.everyone)


def chance(subject: Subject, node: int) -> Tensor:
    return torch.rand_like(subject.everyone)


def rankings(subject: Subject, nodes: Sequence[int] = ()) -> dict[str, Ranking]:
    """All methods that can be compared on a graph; exact Shapley values if the ``nodes`` hear few others."""
    found: dict[str, Ranking] = {OURS: in_turn, SORTED: contributions, "GNNExplainer": gnn_explainer}
    is_one = len(subject.trace.groups) == 1
    if is_one and isinstance(subject.trace.a_bar, Polynomial) and subject.edge_index.shape[1] <= MOST_EDGES:
        found["GNNExplainer, edges"] = gnn_explainer_of_edges
    found |= {"PGExplainer": TrainedPGExplainer(subject), "PGMExplainer": pgm_explainer}
    if find_spec("captum"):
        found |= {"Captum, integrated gradients": captum_gradients, "Captum, Shapley sampling": captum_shapley}
    if nodes and all(len(field(subject, node)) <= FEW for node in nodes):
        found[EXACT] = exact_shapley
    found |= {"integrated gradients": integrated_gradients, "input times gradient": input_times_gradient}
    if not is_one and any(prod(group.x.shape) > MOST_ENTRIES for group in subject.trace.routed):
        del found["input times gradient"]
    return found | {"filter weights": filter_weights, "personalised PageRank": personal_pagerank, "random": chance}


def feature_leaf(subject: Subject, place: int = 0) -> Tensor:
    """The dense input of a group, which requires a gradient."""
    return subject.trace.groups[place].x.to_dense().detach().requires_grad_()


def _gradient(subject: Subject, node: int, presence: Tensor) -> Tensor:
    presence = presence.clone().requires_grad_()
    probability = proportions(subject.scores(presence)[node])[subject.predicted[node]]
    return torch.autograd.grad(probability, presence)[0]
