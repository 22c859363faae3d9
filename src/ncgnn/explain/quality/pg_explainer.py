"""PyG's PGExplainer: one network for all nodes, trained on a sample, that knows important nodes by their capsules."""

import warnings
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explainer, PGExplainer

from ncgnn.explain.presence import Subject
from ncgnn.explain.quality.measures import field
from ncgnn.explain.quality.strengths import MODEL, HeardThroughEdges, placed

EPOCHS, NODES = 30, 30
"""Epochs of training, those of PyG's example, and the number of nodes in each."""


class TrainedPGExplainer:
    """A ranking that is trained when it is first asked."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def __call__(self, subject: Subject, node: int) -> Tensor:
        edges = _edges(subject, node)
        found = self._explainer(subject.everyone[:, None], edges, target=subject.predicted, index=node)
        return placed(subject, edges[0], found.edge_mask)

    @cached_property
    def _explainer(self) -> Explainer:
        subject = self.subject
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Converting a tensor with requires_grad=True")
            torch.manual_seed(0)
            nodes = torch.randperm(len(subject.everyone))[:NODES].tolist()
            method = _KnowsCapsules(EPOCHS)
            found = Explainer(HeardThroughEdges(subject), method, "phenomenon", MODEL, edge_mask_type="object")
            everyone, predicted = subject.everyone[:, None], subject.predicted
            for epoch in range(EPOCHS):
                for node in nodes:
                    edges = _edges(subject, node)
                    method.train(epoch, found.model, everyone, edges, target=predicted, index=node)
        return found


class _KnowsCapsules(PGExplainer):
    """The embedding of a node is its class capsules."""

    def _get_embeddings(self, model: HeardThroughEdges, *_: Any, **__: Any) -> Tensor:
        return model.subject.trace.routing.u.detach().flatten(1)


def _edges(subject: Subject, node: int) -> Tensor:
    """From each node that is heard."""
    heard = field(subject, node)
    return torch.stack([heard, torch.full_like(heard, node)])
