r"""Contributions of edges: those of all walks that cross them.

An entry of the filter is a sum over walks, :math:`\bar{a}_{ij} = \sum_h \xi_h (\tilde{\mathbf{A}}^h)_{ij}`, and so is
the contribution of node j. A walk that crosses an edge twice counts twice for it.
"""

from functools import reduce

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ncgnn.errors import InputError
from ncgnn.explain.groups import LINKS, TracedGroup
from ncgnn.explain.targets import Targets
from ncgnn.explain.trace import Trace
from ncgnn.sparse import CSR, ChebyshevSeries, Polynomial, dense_rows


@torch.no_grad()
def by_edge(trace: Trace, targets: Targets, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
    """Contribution of each edge [E], summed over the targets and over groups of capsules. Steps along self-loops, which
    the normalised adjacency matrix adds to each node, belong to no edge."""
    bases = [_base(group) for group in trace.groups]
    found = []
    for group, base, said in zip(trace.groups, bases, trace.messages, strict=True):
        total = torch.zeros_like(base.values)
        for i in range(len(targets)):
            total += _shares(group, said, targets[i : i + 1])
        found.append(_of_edges(base, total, edge_index, edge_weight))
    return reduce(torch.add, found)


def _base(group: TracedGroup) -> CSR:
    if group.reads.what == LINKS:
        raise InputError(
            f"edges have no contributions where capsules read links as their input, as those of group {group.name!r} "
            "do: explain by feature instead, where each link is one"
        )
    if isinstance(group.a_bar, Polynomial | ChebyshevSeries):
        return group.a_bar.base
    raise InputError(
        "edge contributions need a filter that is a sum over walks: use an unsparsified filter (neither top_k nor "
        "epsilon) in its implicit form for edge masks"
    )


def _shares(group: TracedGroup, said: Tensor, target: Targets) -> Tensor:
    r"""For each entry (b, a) of the adjacency matrix :math:`\tilde{a}_{ba} \sum_{t+s+1=h} \xi_h
    (\tilde{\mathbf{A}}^t)_{ib} (\tilde{\mathbf{A}}^s \mathbf{q})_a`, where q is what each node says along the target's
    direction."""
    q, a_bar = target.heard(said), group.a_bar
    if isinstance(a_bar, Polynomial):
        return _polynomial_shares(a_bar, target.nodes, q)
    # the sums over t and s are those of the filter itself
    assert isinstance(a_bar, ChebyshevSeries)
    assert a_bar.odds is not None
    between = _between(a_bar.base, dense_rows(a_bar, target.nodes), a_bar.product(q))
    return a_bar.odds * between


def _polynomial_shares(a_bar: Polynomial, node: Tensor, q: Tensor) -> Tensor:
    a, xi = a_bar.base, a_bar.coefficients.detach()
    degree = len(xi) - 1
    if not degree:
        return torch.zeros_like(a.values)
    there, back = torch.zeros_like(q), q
    there[node] = 1
    left, right = [there], [back]
    for _ in range(degree - 1):
        left.append(a.T.product(left[-1]))
        right.append(a.product(right[-1]))
    # the rest of the walk after t steps and the edge
    after = [sum((xi[t + 1 + s] * right[s] for s in range(degree - t)), torch.zeros_like(q)) for t in range(degree)]
    return _between(a, torch.cat(left, dim=1), torch.cat(after, dim=1))


def _between(a: CSR, left: Tensor, right: Tensor) -> Tensor:
    """``a_ba (left_b . right_a)`` for each entry of a."""
    sampled = a.gradients(right, left, True)[0]
    assert sampled is not None
    return a.values * sampled


def _of_edges(base: CSR, shares: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
    """Map entries of the adjacency matrix to the listed edges; repeated edges share a value by weight, and self-loops,
    which the model ignores, get zero."""
    source, target = edge_index.cpu().numpy()
    weight = np.ones(source.size) if edge_weight is None else edge_weight.detach().cpu().numpy().astype(np.float64)
    weight = weight * (source != target)
    parts = (shares.cpu().numpy(), base.pattern.indices.cpu().numpy(), base.pattern.indptr.cpu().numpy())
    found = sp.csr_array(parts, shape=base.shape)[target, source]
    total = sp.csr_array((weight, (target, source)), shape=base.shape)[target, source]
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return torch.from_numpy(np.asarray(found).ravel() * share).to(shares)
