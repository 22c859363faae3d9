"""Whether explanations find the neighbours and features that were planted in a generated graph."""

from collections.abc import Callable, Sequence

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer

from ncgnn.explain.features import FeatureShares
from ncgnn.explain.presence import Subject
from ncgnn.explain.quality.compared import SORTED, STEPS, feature_leaf
from ncgnn.explain.quality.measures import Measured, field
from ncgnn.explain.quality.strengths import MODEL
from ncgnn.explain.targets import ahead_of_others
from ncgnn.explain.trace import Trace
from ncgnn.nn import proportions

FeatureRanking = Callable[[Subject, int], Tensor]
"""The importance of each feature [f] for the prediction of a node."""


def has_truth(data: Data) -> bool:
    return "node_group" in data and "feature_group" in data


def planted_nodes(subject: Subject, data: Data, node: int) -> Tensor:
    """The nodes in the receptive field of a node that carry the signal of its class, as a mask [N]."""
    heard = torch.zeros(data.num_nodes, dtype=torch.bool).index_fill(0, field(subject, node), True)
    planted: Tensor = heard & (data.node_group == data.y[node])
    return planted


def planted_features(subject: Subject, data: Data, node: int) -> Tensor:
    """The features of its class that one of these has, as a mask [f]."""
    carriers = subject.trace.x.to_dense()[planted_nodes(subject, data, node)]
    planted: Tensor = (carriers != 0).any(dim=0) & (data.feature_group == data.y[node])
    return planted


def found(kind: str, importances: Sequence[Tensor], truths: Sequence[Tensor]) -> list[Measured]:
    """Precision among as many as were planted, recall among twice as many, and the probability that a planted item is
    ahead of another one, mean over nodes."""
    pairs = list(zip(importances, truths, strict=True))
    precision = [_hits(importance, truth, 1) for importance, truth in pairs]
    recall = [_hits(importance, truth, 2) for importance, truth in pairs]
    return [
        Measured(f"precision of planted {kind}", None, sum(precision) / len(pairs)),
        Measured(f"recall of planted {kind}", None, sum(recall) / len(pairs)),
        Measured(f"AUC of planted {kind}", None, sum(_auc(*pair) for pair in pairs) / len(pairs)),
    ]


def _auc(importance: Tensor, truth: Tensor) -> float:
    """The area under the ROC curve; 1/2 where all or none are planted, which leaves nothing to rank."""
    return float(roc_auc_score(truth, importance)) if bool(truth.any()) and not bool(truth.all()) else 0.5


def _hits(importance: Tensor, truth: Tensor, times: int) -> float:
    """The fraction of planted items among the top."""
    planted = int(truth.sum())
    first = importance.argsort(descending=True, stable=True)[: times * planted]
    return float(truth[first].sum()) / planted


def feature_contributions(subject: Subject, node: int) -> Tensor:
    nodes = torch.tensor([node])
    target = ahead_of_others(subject.trace, nodes, subject.predicted[nodes])
    shares = FeatureShares(subject.trace)
    return shares(target).features[shares.columns.of_group(0)]


def feature_gnn_explainer(subject: Subject, node: int) -> Tensor:
    explainer = Explainer(_OfFeatures(subject), GNNExplainer(), "model", MODEL, node_mask_type="common_attributes")
    mask: Tensor = explainer(feature_leaf(subject).detach(), subject.edge_index, index=node).node_mask
    return mask[0]


def feature_gradients(subject: Subject, node: int) -> Tensor:
    """Integrated gradients: times the features, from none of them on."""
    x = feature_leaf(subject).detach()
    points = [_feature_gradient(subject, node, (step + 0.5) / STEPS * x) for step in range(STEPS)]
    return (torch.stack(points).mean(dim=0) * x).sum(dim=0)


def feature_input_times_gradient(subject: Subject, node: int) -> Tensor:
    x = feature_leaf(subject).detach()
    return (_feature_gradient(subject, node, x) * x).sum(dim=0)


def feature_chance(subject: Subject, node: int) -> Tensor:
    return torch.rand(subject.trace.x.shape[1])


FEATURE_RANKINGS: dict[str, FeatureRanking] = {
    SORTED: feature_contributions,
    "GNNExplainer": feature_gnn_explainer,
    "integrated gradients": feature_gradients,
    "input times gradient": feature_input_times_gradient,
    "random": feature_chance,
}


def _scores(trace: Trace, x: Tensor) -> Tensor:
    """What the model says with other features."""
    rest = [group.x for group in trace.groups[1:]]
    scores: Tensor = trace.model([x, *rest], [group.prepared for group in trace.groups])
    return scores


def _feature_gradient(subject: Subject, node: int, x: Tensor) -> Tensor:
    x = x.clone().requires_grad_()
    scores = _scores(subject.trace, x)
    return torch.autograd.grad(proportions(scores[node])[subject.predicted[node]], x)[0]


class _OfFeatures(torch.nn.Module):
    """The model as a function of the features."""

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self.trace = subject.trace

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return proportions(_scores(self.trace, x))
