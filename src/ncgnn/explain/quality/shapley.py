"""Shapley values of nodes for the probability of a class: exact where few are heard, else sampled by Captum."""

from math import factorial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import CaptumExplainer, Explainer

from ncgnn.explain.contributions import weights_heard
from ncgnn.explain.presence import Subject
from ncgnn.explain.quality.measures import field
from ncgnn.explain.quality.strengths import MODEL, Heard, placed
from ncgnn.nn import proportions

FEW = 12
"""Maximum number of heard nodes for exact values, which take a run of the model for each of their subsets."""

PLAYERS = 50
"""Nodes that Captum samples one by one, those with the largest filter weights; all others are one player more."""


@torch.no_grad()
def exact_shapley(subject: Subject, node: int) -> Tensor:
    heard, predicted = field(subject, node), subject.predicted[node]
    n = len(heard)
    subsets = torch.arange(1 << n)
    inside = (subsets[:, None] >> torch.arange(n)) & 1
    presence = (subject.everyone.index_put((heard,), row.to(subject.everyone)) for row in inside)
    value = torch.stack([proportions(subject.scores(one)[node])[predicted] for one in presence])
    weight = torch.tensor([factorial(s) * factorial(n - s - 1) / factorial(n) for s in range(n)])
    return placed(subject, heard, torch.stack([_mean_gain(value, weight, inside, place) for place in range(n)]))


def _mean_gain(value: Tensor, weight: Tensor, inside: Tensor, place: int) -> Tensor:
    """What one node adds to the subsets without it, weighted by their sizes."""
    without = (inside[:, place] == 0).nonzero().flatten()
    return (weight[inside[without].sum(dim=1)] * (value[without + (1 << place)] - value[without])).sum()


def captum_gradients(subject: Subject, node: int) -> Tensor:
    """Captum's integrated gradients with its defaults, 50 points."""
    heard = field(subject, node)
    return placed(subject, heard, _attributed(subject, node, heard, "IntegratedGradients"))


def captum_shapley(subject: Subject, node: int) -> Tensor:
    """Captum's sampling of Shapley values with its defaults, 25 orders of the players. The value of the last player is
    shared out by filter weights."""
    heard = field(subject, node)
    weight = torch.stack(weights_heard(subject.trace, node)).sum(dim=0)[heard].abs()
    order = weight.argsort(descending=True, stable=True)
    players = torch.empty_like(order).index_put((order,), torch.arange(len(order)).clamp(max=PLAYERS))
    found = _attributed(subject, node, heard, "ShapleyValueSampling", feature_mask=(players.view(1, -1, 1),))
    rest = players == PLAYERS
    found[rest] *= weight[rest] / weight[rest].sum()
    return placed(subject, heard, found)


def _attributed(subject: Subject, node: int, heard: Tensor, method: str, **options: Any) -> Tensor:
    """The attribution of each heard node [n]."""
    algorithm = CaptumExplainer(method, **options)
    explainer = Explainer(Heard(subject, heard), algorithm, "model", MODEL, node_mask_type="attributes")
    strength, no_edges = subject.everyone[heard, None], subject.edge_index[:, :0]
    mask: Tensor = explainer(strength, no_edges, index=node).node_mask
    return mask[:, 0]
