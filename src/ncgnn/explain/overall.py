"""Aggregate contributions over many predictions, without computing each explanation."""

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.explain.contributions import by_hop
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.targets import make_targets
from ncgnn.explain.trace import Trace


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
