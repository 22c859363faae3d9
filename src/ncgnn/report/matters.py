"""What the predictions of a model are made of, taken together."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.data.splits import judged_nodes
from ncgnn.explain import is_explained, trace_scored
from ncgnn.explain.contributions import by_group, by_hop
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.targets import make_targets
from ncgnn.explain.trace import Trace
from ncgnn.nn import NCGNN
from ncgnn.scored import Scored

TOP = 5
_MOST_VALUES = 1 << 28  # of primary capsules: a gigabyte, which the parts of features take several times


@dataclass(frozen=True)
class Matters:
    """Shares of the scores of the predicted classes of the judged nodes.

    Attributes:
        hops: of each hop; ``None`` where the filter is no sum over hops.
        features: of the features that speak most for each class that is predicted, the most first.
        groups: of each group of capsules, the most first; ``None`` where there is only one.
    """

    hops: dict[str, float] | None
    features: dict[str, list[tuple[str, float]]]
    groups: dict[str, float] | None = None


def matters(scored: Scored) -> Matters | None:
    """``None`` for models that are not explained and for very large graphs."""
    model, data = scored.module, scored.data
    if not is_explained(scored) or not isinstance(model, NCGNN):
        return None
    trace, nodes = trace_scored(scored), judged_nodes(data)
    if len(scored.scores) * sum(group.primary.bias.numel() for group in trace.routed if group.primary) > _MOST_VALUES:
        return None
    parts = FeatureShares(trace)
    shares = feature_shares(trace, nodes, parts)
    best = shares.topk(min(TOP, shares.shape[1]), dim=1)
    found = {}
    for name, places, values in zip(data.class_names, best.indices.tolist(), best.values.tolist(), strict=True):
        pairs = zip(places, values, strict=True)
        found[name] = [(parts.columns.name(i, scored.names), value) for i, value in pairs if value > 0]
    features = {name: largest for name, largest in found.items() if largest}
    return Matters(hop_shares(trace, nodes), features, group_shares(trace, nodes))


@torch.no_grad()
def hop_shares(trace: Trace, mask: Tensor) -> dict[str, float] | None:
    """Share of each hop in the scores of the predicted classes of the nodes in ``mask``; with the share of the biases,
    they add up to one. ``None`` if the filter is not a sum over hops."""
    targets = make_targets(trace, mask.nonzero().flatten(), trace.scores[mask].argmax(dim=1))
    parts, total = by_hop(trace, targets), targets.along(trace.routing.u).sum()
    return None if parts is None else {hop: float(part.sum() / total) for hop, part in parts.items()}


@torch.no_grad()
def group_shares(trace: Trace, mask: Tensor) -> dict[str, float] | None:
    """The same by group of capsules, the largest first. ``None`` if there is only one."""
    targets = make_targets(trace, mask.nonzero().flatten(), trace.scores[mask].argmax(dim=1))
    parts, total = by_group(trace, targets), targets.along(trace.routing.u).sum()
    if parts is None:
        return None
    shares = zip((group.name for group in trace.groups), (parts.sum(dim=0) / total).tolist(), strict=True)
    return dict(sorted(shares, key=lambda share: -share[1]))


@torch.no_grad()
def feature_shares(trace: Trace, mask: Tensor, shares: FeatureShares | None = None) -> Tensor:
    """Share of each feature in the scores of the nodes in ``mask`` predicted as each class [C, f]; zeros for classes
    that are never predicted."""
    shares, predicted = shares or FeatureShares(trace), trace.scores.argmax(dim=1)
    classes = range(trace.scores.shape[1])
    return torch.stack([_of_class(trace, shares, number, mask & (predicted == number)) for number in classes])


def _of_class(trace: Trace, shares: FeatureShares, number: int, members: Tensor) -> Tensor:
    r"""Contributions to one class, as in :class:`~ncgnn.explain.FeatureShares`, but for all members i at once, through
    :math:`\sum_i \bar{a}_{ij} \mathbf{d}_{il}`."""
    u = trace.routing.u[:, number]
    direction, found = F.normalize(u, dim=-1) * members[:, None], []
    for group in shares.groups:
        heard = group.group.a_bar.gradients(u, direction, False)[1]
        found.append(group.features(group.weights_for(number, heard)))
    parts = shares.columns.joined(found)
    return parts / trace.lengths[members, number].sum().clamp(min=torch.finfo(parts.dtype).tiny)
