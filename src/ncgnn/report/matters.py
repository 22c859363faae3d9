"""What the predictions of a model are made of, taken together."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.data.splits import judged_nodes
from ncgnn.explain import is_explained, trace_scored
from ncgnn.explain.contributions import by_group, by_hop, of_bias
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.heard import batches, heard
from ncgnn.explain.targets import Targets, make_targets
from ncgnn.explain.trace import Trace
from ncgnn.nn import NCGNN
from ncgnn.scored import Scored

TOP = 5
_MOST_VALUES = 1 << 28  # of primary capsules: a gigabyte, which the parts of features take several times


@dataclass(frozen=True)
class Apart:
    """What tells a class from its most frequent runner-up: the features that speak most for it, the most first, and
    their shares."""

    runner_up: str
    features: list[tuple[str, float]]


@dataclass(frozen=True)
class Matters:
    """Shares of what tells the predicted classes of the judged nodes from the runners-up: of the magnitudes of all
    parts, so that what both classes have in common is no part.

    Attributes:
        own: of the nodes themselves.
        others: of all other nodes.
        bias: of the class biases.
        features: for each class that is predicted.
        groups: of what groups of capsules read, in words, the most first; ``None`` where there is only one group.
        hops: of each hop in the scores of the predicted classes; ``None`` where the filter is no sum over hops.
    """

    own: float
    others: float
    bias: float
    features: dict[str, Apart]
    groups: dict[str, float] | None
    hops: dict[str, float] | None


def matters(scored: Scored) -> Matters | None:
    """``None`` for models that are not explained and for very large graphs."""
    model, data = scored.module, scored.data
    if not is_explained(scored) or not isinstance(model, NCGNN):
        return None
    trace, nodes = trace_scored(scored), judged_nodes(data)
    if len(scored.scores) * sum(group.primary.bias.numel() for group in trace.routed if group.primary) > _MOST_VALUES:
        return None
    shares, classes, found = FeatureShares(trace), data.class_names, {}
    for first, second, parts in feature_shares(trace, nodes, shares):
        values, places = (one.tolist() for one in parts.topk(min(TOP, len(parts))))
        named = [(shares.columns.name(f, scored.names), v) for f, v in zip(places, values, strict=True) if v > 0]
        found[classes[first]] = Apart(classes[second], named)
    return Matters(*node_shares(trace, nodes), found, group_shares(trace, nodes), hop_shares(trace, nodes))


def leads(trace: Trace, mask: Tensor) -> Targets:
    """The leads of the predicted classes over the runners-up, of the nodes in ``mask``."""
    best = trace.scores[mask].topk(2, dim=1).indices
    return make_targets(trace, mask.nonzero().flatten(), best[:, 0], best[:, 1])


@torch.no_grad()
def node_shares(trace: Trace, mask: Tensor) -> tuple[float, float, float]:
    """Of the nodes themselves, of all other nodes, and of the biases; they add up to one."""
    targets = leads(trace, mask)
    own = every = 0.0
    for batch in batches(trace, targets):
        found = heard(trace, targets[batch])
        own += float(found.of(targets.nodes[batch]).abs().sum())
        every += float(found.magnitude.sum())
    bias = float(of_bias(trace, targets).abs().sum())
    return own / (every + bias), (every - own) / (every + bias), bias / (every + bias)


@torch.no_grad()
def group_shares(trace: Trace, mask: Tensor) -> dict[str, float] | None:
    """Of what groups of capsules read, the largest first; with the share of the biases, they add up to one."""
    targets = leads(trace, mask)
    parts = by_group(trace, targets)
    if parts is None:
        return None
    whole, found = parts.abs().sum() + of_bias(trace, targets).abs().sum(), dict[str, float]()
    for group, part in zip(trace.groups, parts.abs().sum(dim=0), strict=True):
        found[group.words] = found.get(group.words, 0.0) + float(part / whole)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


@torch.no_grad()
def hop_shares(trace: Trace, mask: Tensor) -> dict[str, float] | None:
    """Share of each hop in the scores of the predicted classes of the nodes in ``mask``; with the share of the biases,
    they add up to one. ``None`` if the filter is not a sum over hops."""
    targets = make_targets(trace, mask.nonzero().flatten(), trace.scores[mask].argmax(dim=1))
    parts, total = by_hop(trace, targets), targets.along(trace.routing.u).sum()
    return None if parts is None else {hop: float(part.sum() / total) for hop, part in parts.items()}


@torch.no_grad()
def feature_shares(trace: Trace, mask: Tensor, shares: FeatureShares) -> Iterator[tuple[int, int, Tensor]]:
    """For each class that is predicted, its most frequent runner-up, and the share of each feature [f] in what tells
    the two apart, summed over the nodes in ``mask``."""
    first, second = trace.scores.topk(2, dim=1).indices.unbind(1)
    for number in first[mask].unique().tolist():
        members = mask & (first == number)
        other = int(second[members].bincount().argmax())
        of_both = (_of_class(trace, shares, one, members) for one in (number, other))
        parts, bias = (one - two for one, two in zip(*of_both, strict=True))
        yield number, other, parts / (parts.abs().sum() + bias.abs()).clamp(min=torch.finfo(parts.dtype).tiny)


def _of_class(trace: Trace, shares: FeatureShares, number: int, members: Tensor) -> tuple[Tensor, Tensor]:
    r"""Contributions of features [f] and of all biases to one class, as in :class:`~ncgnn.explain.FeatureShares`, but
    for all members i at once, through :math:`\sum_i \bar{a}_{ij} \mathbf{d}_{il}`."""
    u = trace.routing.u[:, number]
    direction, found = F.normalize(u, dim=-1) * members[:, None], []
    bias = trace.bias[number] @ direction.sum(dim=0)
    for group in shares.groups:
        m = group.weights_for(number, group.group.a_bar.gradients(u, direction, False)[1])
        found.append(group.features(m))
        bias = bias + group.bias(m)
    return shares.columns.joined(found), bias
