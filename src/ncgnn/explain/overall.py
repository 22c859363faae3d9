"""What matters for many predictions together: the parts of single scores, added up without making each."""

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.explain.contributions import by_hop
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.targets import make_targets
from ncgnn.explain.trace import Trace


@torch.no_grad()
def hop_shares(trace: Trace, mask: Tensor) -> dict[str, float] | None:
    """How much of the scores of the predicted classes of the nodes in ``mask`` comes over each hop; with the biases'
    share they add up to one. ``None`` where the filter is no sum over hops."""
    targets = make_targets(trace, mask.nonzero().flatten(), trace.scores[mask].argmax(dim=1))
    parts, total = by_hop(trace, targets), targets.along(trace.routing.u).sum()
    return None if parts is None else {hop: float(part.sum() / total) for hop, part in parts.items()}


@torch.no_grad()
def feature_shares(trace: Trace, mask: Tensor) -> Tensor:
    """How much of the scores of the nodes in ``mask`` that are predicted as each class comes from each feature [C, f];
    zeros for a class that is never predicted."""
    shares, predicted = FeatureShares(trace), trace.scores.argmax(dim=1)
    classes = range(trace.scores.shape[1])
    return torch.stack([_of_class(trace, shares, number, mask & (predicted == number)) for number in classes])


def _of_class(trace: Trace, shares: FeatureShares, number: int, members: Tensor) -> Tensor:
    r"""Scores of one class, as in :class:`~ncgnn.explain.FeatureShares`, but with what node j is heard with by all
    members i at once: :math:`\sum_i \bar{a}_{ij} \mathbf{d}_{il}`."""
    u = trace.routing.u[:, number]
    heard = trace.a_bar.gradients(u, F.normalize(u, dim=-1) * members[:, None], False)[1]
    asked = torch.einsum("kqf,jf->jkq", trace.layer.weight.detach()[:, :, number], heard)
    m = (shares.gates * trace.routing.couplings[:, :, number, None] * asked).flatten(1)
    parts = (shares.w_dot * trace.x.gradients(m, m, False)[1]).sum(dim=1)
    return parts / trace.lengths[members, number].sum().clamp(min=torch.finfo(parts.dtype).tiny)
