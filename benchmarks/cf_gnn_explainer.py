"""The rule of CF-GNNExplainer (Lucic et al., 2022), on the strengths of nodes instead of edges.

A mask on the other nodes that are heard starts above 1/2 and descends log p(class) until the class changes without the
nodes whose strength is below 1/2. As in the authors' program, the distance has no gradient. The largest entry moves by
a fixed amount in each step: at a fixed rate, masks on these models hardly move.
"""

import torch

from ncgnn.explain.presence import Subject
from ncgnn.explain.quality import field
from ncgnn.nn import proportions

EPOCHS, RATE = 500, 0.1
"""Those of the paper."""


def cf_gnn_explainer(subject: Subject, node: int) -> list[int]:
    """Numbers of the nodes without which the class is another; none if that is not found."""
    heard, predicted = field(subject, node), subject.predicted[node]
    heard = heard[heard != node]
    mask = torch.ones(len(heard))
    for _ in range(EPOCHS if len(heard) else 0):
        gone = heard[mask < 0]
        if len(gone) and _class_without(subject, node, gone) != predicted:
            found: list[int] = gone.tolist()
            return found
        gradient = _gradient(subject, node, heard, mask)
        mask = mask - RATE * gradient / gradient.abs().max().clamp(min=1e-12)
    return []


def _gradient(subject: Subject, node: int, heard: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Of log p(class) with these strengths, before the sigmoid."""
    mask = mask.clone().requires_grad_()
    scores = subject.scores(subject.everyone.index_put((heard,), mask.sigmoid()))[node]
    return torch.autograd.grad(proportions(scores)[subject.predicted[node]].log(), mask)[0]


@torch.no_grad()
def _class_without(subject: Subject, node: int, gone: torch.Tensor) -> torch.Tensor:
    return subject.scores(subject.everyone.index_fill(0, gone, 0.0))[node].argmax()
