r"""Exact decomposition of a score, with the couplings of the last iteration held fixed.

A class capsule is a sum over nodes j and their capsules k, :math:`\mathbf{u}_i^{(l)} = \sum_{jk} \bar{a}_{ij} c_{jkl}
\mathbf{W}_{kl} \mathbf{h}_j^{(k)} + \mathbf{b}_l`. The contributions are the projections of its terms on its direction
:math:`\mathbf{d}_{il}`; together with that of the bias, they add up to the score :math:`\|\mathbf{u}_i^{(l)}\|`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import torch
from torch import Tensor

from ncgnn.explain.heard import Heard, batches, heard, looked_up
from ncgnn.explain.targets import Targets
from ncgnn.explain.trace import Trace
from ncgnn.sparse import CSR, LinearOperator, dense_rows


@dataclass(frozen=True, eq=False)
class Top:
    """The largest contributions of each target, by magnitude [n, top], their nodes, and the sum of all others. Where a
    target has fewer, zeros follow."""

    index: Tensor
    value: Tensor
    rest: Tensor


@dataclass(frozen=True, eq=False)
class Outline:
    """Scores [n] and their contributions, without those of single nodes. By hop, by capsule and by group, contributions
    and bias add up to the score."""

    score: Tensor
    bias: Tensor
    hops: dict[str, Tensor] | None
    capsules: Tensor
    groups: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Decomposition(Outline):
    """An outline and the contributions of nodes, the target itself among them; with the rest and the bias, they add up
    to the score, too."""

    nodes: Top = field(kw_only=True)


@torch.no_grad()
def outline(trace: Trace, targets: Targets) -> Outline:
    """The contributions to the scores of targets that are computed for all of them at once."""
    return Outline(
        targets.along(trace.routing.u),
        of_bias(trace, targets),
        by_hop(trace, targets),
        by_capsule(trace, targets),
        by_group(trace, targets),
    )


def decompose(trace: Trace, targets: Targets, top: int = 16) -> Decomposition:
    """All contributions to the scores of targets, except by feature, for which see :class:`FeatureShares`."""
    return Decomposition(**vars(outline(trace, targets)), nodes=top_nodes(trace, targets, top))


def of_bias(trace: Trace, targets: Targets) -> Tensor:
    """Contribution of the bias [n]."""
    return (trace.bias[targets.classes] * targets.direction).sum(dim=(1, 2))


def by_hop(trace: Trace, targets: Targets) -> dict[str, Tensor] | None:
    """Contribution of each hop [n], over all groups; ``None`` if the filter of a group is not a sum over hops."""
    found: dict[str, Tensor] = {}
    for group, said, arrived in zip(trace.groups, trace.messages, trace.arrived, strict=True):
        terms = group.module.filter.hop_terms(group.prepared, said.flatten(1), arrived.flatten(1))
        if terms is None:
            return None
        for hop, term in terms:
            part = targets.along(term.view_as(arrived))
            found[hop] = found[hop] + part if hop in found else part
    return dict(sorted(found.items(), key=_distance)) if len(trace.groups) > 1 else found


def _distance(hop: tuple[str, Tensor]) -> float:
    """A number to sort hops by; those without one, such as "farther", come last."""
    return int(hop[0]) if hop[0].isdigit() else torch.inf


def by_group(trace: Trace, targets: Targets) -> Tensor | None:
    """Contribution of each group of capsules [n, G]; ``None`` if there is only one."""
    if len(trace.groups) == 1:
        return None
    return torch.stack([targets.along(arrived) for arrived in trace.arrived], dim=1)


def by_capsule(trace: Trace, targets: Targets) -> Tensor:
    """Contribution of each capsule of all groups, summed over all nodes [n, K]."""
    said = ((group.a_bar, trace.said_by(k)) for group in trace.groups for k in group.capsules)
    return torch.stack([targets.along(a_bar.product(s.flatten(1)).view_as(s)) for a_bar, s in said], dim=1)


def by_node(trace: Trace, targets: Targets) -> Tensor:
    """Contribution of each node, over all groups [n, N]; a large matrix, so use few targets."""
    pairs = zip(trace.groups, trace.messages, strict=True)
    found = reduce(torch.add, (dense_rows(group.a_bar, targets.nodes) * targets.heard(said) for group, said in pairs))
    return found.t().contiguous()


@torch.no_grad()
def top_nodes(trace: Trace, targets: Targets, top: int) -> Top:
    """The nodes with the largest contributions."""
    found = [_largest_heard(heard(trace, targets[batch]), top) for batch in batches(trace, targets)]
    width = max((one.index.shape[1] for one in found), default=0)
    index, value = trace.scores.new_zeros(2, len(targets), width)
    index = index.long()
    for batch, one in zip(batches(trace, targets), found, strict=True):
        index[batch, : one.index.shape[1]], value[batch, : one.value.shape[1]] = one.index, one.value
    return Top(index, value, torch.cat([value.new_zeros(0), *(one.rest for one in found)]))


def _largest_heard(found: Heard, top: int) -> Top:
    index, value = found.largest(top)
    return Top(index, value, found.total - value.sum(dim=1))


@dataclass(frozen=True, eq=False)
class Around(Top):
    """The largest contributions of other nodes, and what each target hears of itself [n]."""

    own: Tensor


def around(found: Heard, targets: Targets, top: int) -> Around:
    """What a batch of targets hears of other nodes and of itself."""
    own, (index, value) = found.of(targets.nodes), found.largest(top, without=targets.nodes)
    return Around(index, value, found.total - own - value.sum(dim=1), own)


@dataclass(frozen=True, eq=False)
class Pulls:
    """What puts one class ahead of another, by node: the node itself first, then those with the largest parts.

    Attributes:
        index: numbers of these nodes [n, 1 + top].
        value: their parts [n, 1 + top].
        weights: their weights in the filter of each group [n, 1 + top], zero where a target has fewer nodes.
        total: the parts of all nodes together [n].
        magnitude: the same without their signs [n].
    """

    index: Tensor
    value: Tensor
    weights: Sequence[Tensor]
    total: Tensor
    magnitude: Tensor


@torch.no_grad()
def pulls(trace: Trace, targets: Targets, top: int, weights: Sequence[CSR] | None = None) -> Pulls:
    """The largest parts of a batch of targets; ``weights`` are their rows of the filters, if they are known."""
    found = heard(trace, targets, weights)
    own, (others, values) = found.of(targets.nodes), found.largest(top, without=targets.nodes)
    index, value = torch.cat([targets.nodes[:, None], others], dim=1), torch.cat([own[:, None], values], dim=1)
    is_node = torch.cat([torch.ones_like(own[:, None], dtype=torch.bool), values != 0], dim=1)
    of_groups = [looked_up(row, index) * is_node for row in found.weights]
    return Pulls(index, value, of_groups, found.total, found.magnitude)


def largest(contributions: Tensor, top: int) -> Top:
    """The largest entries of each row [n, ...]."""
    index = contributions.abs().topk(min(top, contributions.shape[1]), dim=1).indices
    value = contributions.gather(1, index)
    return Top(index, value, contributions.sum(dim=1) - value.sum(dim=1))


def row(operator: LinearOperator, node: int) -> Tensor:
    """One row of an operator [columns]."""
    return dense_rows(operator, torch.tensor([node]))[:, 0]


@torch.no_grad()
def receptive_field(trace: Trace, node: int) -> Tensor:
    """The nodes that reach a node through any group."""
    return reduce(torch.logical_or, (weights != 0 for weights in weights_heard(trace, node))).nonzero().flatten()


def weights_heard(trace: Trace, node: int) -> list[Tensor]:
    """The weight of each node in the filter of each group [N]."""
    return [row(group.a_bar, node) for group in trace.groups]


@torch.no_grad()
def decisive(trace: Trace, node: int, chosen_class: int) -> Tensor:
    """The receptive field of ``node``, most decisive nodes first, with couplings held fixed.

    Contributions are projections on the current class capsules. When nodes are removed, the capsules change direction,
    and another class may become the runner-up. So nodes are removed greedily, first the one whose removal leaves the
    smallest lead over the best other class; then in batches of as many as are already removed, so n nodes take log n
    steps.
    """
    heard = receptive_field(trace, node)
    pairs = zip(weights_heard(trace, node), trace.messages, strict=True)
    parts = reduce(torch.add, (a[heard, None, None] * said[heard] for a, said in pairs))
    u, left, gone = trace.routing.u[node], torch.arange(len(heard)), heard[:0]
    while len(left):
        order = lead_of(u - parts[left], chosen_class).argsort(stable=True)
        count = max(1, len(gone))
        next_ones, left = left[order[:count]], left[order[count:]]
        u, gone = u - parts[next_ones].sum(dim=0), torch.cat([gone, next_ones])
    return heard[gone]


def lead_of(u: Tensor, chosen_class: int) -> Tensor:
    """The lead of a class over the best other class [n], for class capsules [n, C, f_c]."""
    lengths: Tensor = torch.linalg.vector_norm(u, dim=-1)
    own = lengths[:, chosen_class].clone()
    lengths[:, chosen_class] = -torch.inf
    return own - lengths.amax(dim=1)
