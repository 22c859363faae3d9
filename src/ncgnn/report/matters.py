"""What the predictions of a model are made of, taken together."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.data.splits import judged_nodes
from ncgnn.explain import is_explained, trace_scored
from ncgnn.explain.contributions import by_hop
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
    """

    hops: dict[str, float] | None
    features: dict[str, list[tuple[str, float]]]


def matters(scored: Scored) -> Matters | None:
    """``None`` for models that are not explained and for very large graphs."""
    model, data = scored.module, scored.data
    if not is_explained(scored) or not isinstance(model, NCGNN):
        return None
    if len(scored.scores) * model.primary.bias.numel() > _MOST_VALUES:
        return None
    trace, nodes = trace_scored(scored), judged_nodes(data)
    shares = feature_shares(trace, nodes)
    best = shares.topk(min(TOP, shares.shape[1]), dim=1)
    names, found = data.feature_names, {}
    for name, places, values in zip(data.class_names, best.indices.tolist(), best.values.tolist(), strict=True):
        found[name] = [(names[i], value) for i, value in zip(places, values, strict=True) if value > 0]
    return Matters(hop_shares(trace, nodes), {name: parts for name, parts in found.items() if parts})


@torch.no_grad()
def hop_shares(trace: Trace, mask: Tensor) -> dict[str, float] | None:
    """Share of each hop in the scores of the predicted classes of the nodes in ``mask``; with the share of the biases,
    they add up to one. ``None`` if the filter is not a sum over hops."""
    targets = make_targets(trace, mask.nonzero().flatten(), trace.scores[mask].argmax(dim=1))
    parts, total = by_hop(trace, targets), targets.along(trace.routing.u).sum()
    return None if parts is None else {hop: float(part.sum() / total) for hop, part in parts.items()}


@torch.no_grad()
def feature_shares(trace: Trace, mask: Tensor) -> Tensor:
    """Share of each feature in the scores of the nodes in ``mask`` predicted as each class [C, f]; zeros for classes
    that are never predicted."""
    shares, predicted = FeatureShares(trace), trace.scores.argmax(dim=1)
    classes = range(trace.scores.shape[1])
    return torch.stack([_of_class(trace, shares, number, mask & (predicted == number)) for number in classes])


def _of_class(trace: Trace, shares: FeatureShares, number: int, members: Tensor) -> Tensor:
    r"""Contributions to one class, as in :class:`~ncgnn.explain.FeatureShares`, but for all members i at once, through
    :math:`\sum_i \bar{a}_{ij} \mathbf{d}_{il}`."""
    u = trace.routing.u[:, number]
    heard = trace.a_bar.gradients(u, F.normalize(u, dim=-1) * members[:, None], False)[1]
    asked = torch.einsum("kqf,jf->jkq", trace.layer.weight.detach()[:, :, number], heard)
    m = (shares.gates * trace.routing.couplings[:, :, number, None] * asked).flatten(1)
    parts = (shares.w_dot * trace.x.gradients(m, m, False)[1]).sum(dim=1)
    return parts / trace.lengths[members, number].sum().clamp(min=torch.finfo(parts.dtype).tiny)
