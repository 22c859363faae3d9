"""Contributions of features through the first layer, with its gates and norms held fixed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.explain.groups import FEATURES, Reads, TracedGroup, column_name
from ncgnn.explain.targets import Targets
from ncgnn.explain.trace import Trace
from ncgnn.nn import PrimaryCapsules
from ncgnn.scored import Names
from ncgnn.sparse import Dense, LinearOperator, sparse_rows


@dataclass(frozen=True, eq=False)
class OneTarget:
    """Contributions to one score: of each feature [f], summed over nodes, and of the first layer's bias. With the class
    bias, they add up to the score."""

    features: Tensor
    bias: Tensor
    heard: Sequence["Weighted"]  # of each group


class Weighted(NamedTuple):
    """The nodes that a target hears, and the weights m_jk of their capsule entries before their gates [n, K f_p]."""

    nodes: Tensor
    m: Tensor

    def at(self, nodes: Tensor) -> Tensor:
        """The weights of some nodes, zero for those that are not heard."""
        found = self.m.new_zeros(len(nodes), self.m.shape[1])
        if len(self.nodes):
            ordered, order = self.nodes.sort()
            places = torch.searchsorted(ordered, nodes).clamp(max=len(ordered) - 1)
            is_heard = ordered[places] == nodes
            found[is_heard] = self.m[order[places[is_heard]]]
        return found


class FeatureShares:
    r"""Attributes scores to features. A primary capsule is linear in the features if the gate of its ReLU and its norm
    are held fixed: :math:`\mathbf{h}_j^{(k)} = \mathbf{g}_{jk} \circ (\dot{\mathbf{W}}_k \mathbf{x}_j +
    \dot{\mathbf{b}}_k)`.

    With several groups, the features are the columns of all inputs, as in :class:`Columns`; for beliefs, the classes of
    neighbours."""

    @torch.no_grad()
    def __init__(self, trace: Trace) -> None:
        self.columns = Columns(trace.groups)
        self.groups = [
            OfBeliefs(trace, group) if group.primary is None else OfCapsules(trace, group, group.primary)
            for group in trace.groups
        ]

    @property
    def w_dot(self) -> Tensor:
        """The weights of the first group [f, K f_p]."""
        return self._first.w_dot

    @property
    def gates(self) -> Tensor:
        """The gates of the first group [N, K, f_p]."""
        return self._first.gates

    @property
    def _first(self) -> "OfCapsules":
        first = self.groups[0]
        assert isinstance(first, OfCapsules)
        return first

    @torch.no_grad()
    def __call__(self, target: Targets) -> OneTarget:
        """Contributions for a single target."""
        heard = [group.weights(target) for group in self.groups]
        parts = list(zip(self.groups, heard, strict=True))
        features = self.columns.joined([group.features(m, nodes) for group, (nodes, m) in parts])
        return OneTarget(features, torch.stack([group.bias(m) for group, (_, m) in parts]).sum(), heard)

    @torch.no_grad()
    def of_nodes(self, heard: Sequence[Weighted], nodes: Tensor) -> Tensor:
        """Contribution of each feature of each of these nodes [n, f]."""
        parts = zip(self.groups, heard, strict=True)
        return self.columns.joined([group.of_nodes(weighted.at(nodes), nodes) for group, weighted in parts])

    @torch.no_grad()
    def of_few(self, target: Targets, nodes: Tensor, weights: Sequence[Tensor]) -> Tensor:
        """The same for a single target, without a look at any other node: ``weights`` are those of the few nodes in the
        filter of each group [n]."""
        return self.columns.joined([g.of_few(target, nodes, a) for g, a in zip(self.groups, weights, strict=True)])


class OfCapsules:
    """The shares of one group of capsules."""

    def __init__(self, trace: Trace, group: TracedGroup, primary: PrimaryCapsules) -> None:
        self.trace, self.group, self.primary = trace, group, primary
        self.width = primary.bias.numel()
        self.w_dot: Tensor = primary.weight.detach().flatten(0, 1).t()  # [f, K f_p]

    @cached_property
    def gates(self) -> Tensor:
        return self.gates_of(self.group.x.product(self.w_dot.contiguous()))

    def gates_of(self, product: Tensor) -> Tensor:
        """The gates of nodes whose features times ``w_dot`` are given [n, K, f_p]."""
        z = product.view(-1, *self.primary.bias.shape) + self.primary.bias.detach()
        norm = torch.linalg.vector_norm(F.relu(z), dim=-1, keepdim=True)
        gates: Tensor = (z > 0) / norm.clamp(min=1e-12)
        return gates

    def weights(self, target: Targets) -> Weighted:
        r""":math:`\mathbf{m}_{jk} = \bar{a}_{ij} \mathbf{g}_{jk} \circ \sum_l c_{jkl} \mathbf{W}_{kl}^\top
        \mathbf{d}_{il}`."""
        nodes, a = _heard(self.group, target)
        return Weighted(nodes, self._weights(target, nodes, a, self.gates[nodes]))

    def _weights(self, target: Targets, nodes: Tensor, a: Tensor, gates: Tensor) -> Tensor:
        classes, direction = target.classes[0], target.direction[0]
        mine = slice(self.group.capsules.start, self.group.capsules.stop)
        weight = self.trace.layer.weight.detach()[mine, :, classes]
        asked = torch.einsum("kqlf,lf->klq", weight, direction)
        c = self.trace.routing.couplings[nodes, mine][:, :, classes]
        m: Tensor = a[:, None, None] * gates * torch.einsum("jkl,klq->jkq", c, asked)
        return m.flatten(1)

    def of_few(self, target: Targets, nodes: Tensor, a: Tensor) -> Tensor:
        x = feature_rows(self.group.x, nodes)
        m = self._weights(target, nodes, a, self.gates_of(x @ self.w_dot))
        return (m @ self.w_dot.t()) * x

    def weights_for(self, number: int, heard: Tensor) -> Tensor:
        r"""The same for many scores of one class at once, through ``heard`` :math:`= \sum_i \bar{a}_{ij}
        \mathbf{d}_{il}` [N, f_c]."""
        mine = slice(self.group.capsules.start, self.group.capsules.stop)
        asked = torch.einsum("kqf,jf->jkq", self.trace.layer.weight.detach()[mine, :, number], heard)
        c = self.trace.routing.couplings[:, mine, number]
        m: Tensor = self.gates * c[:, :, None] * asked
        return m.flatten(1)

    def features(self, m: Tensor, nodes: Tensor | None = None) -> Tensor:
        """Summed over these nodes, by default all."""
        x = self.group.x if nodes is None else some_rows(self.group.x, nodes)
        return (self.w_dot * x.gradients(m, m, False)[1]).sum(dim=1)

    def bias(self, m: Tensor) -> Tensor:
        return self.primary.bias.detach().flatten() @ m.sum(dim=0)

    def of_nodes(self, m: Tensor, nodes: Tensor) -> Tensor:
        return (m @ self.w_dot.t()) * feature_rows(self.group.x, nodes)


class OfBeliefs:
    """The shares of beliefs: a feature is a class of neighbours, and its weight what they say."""

    def __init__(self, trace: Trace, group: TracedGroup) -> None:
        self.trace, self.group, self.width = trace, group, len(group.capsules)

    def weights(self, target: Targets) -> Weighted:
        nodes, a = _heard(self.group, target)
        return Weighted(nodes, self.of_few(target, nodes, a))

    def of_few(self, target: Targets, nodes: Tensor, a: Tensor) -> Tensor:
        return a[:, None] * self._said(target, nodes)

    def _said(self, target: Targets, nodes: Tensor) -> Tensor:
        return self._votes[nodes][:, :, target.classes[0]].flatten(2) @ target.direction[0].flatten()

    def weights_for(self, number: int, heard: Tensor) -> Tensor:
        return torch.einsum("jkf,jf->jk", self._votes[:, :, number], heard)

    @property
    def _votes(self) -> Tensor:
        return self.trace.routing.votes[:, self.group.capsules.start : self.group.capsules.stop]

    def features(self, m: Tensor, nodes: Tensor | None = None) -> Tensor:
        return m.sum(dim=0)

    def bias(self, m: Tensor) -> Tensor:
        return m.new_zeros(())

    def of_nodes(self, m: Tensor, nodes: Tensor) -> Tensor:
        return m


class Columns:
    """The columns of the inputs of all groups, one after another; groups that read the same share them."""

    def __init__(self, groups: Sequence[TracedGroup]) -> None:
        self._first: dict[Reads, int] = {}
        self.total = 0
        self._slices = []
        for group in groups:
            # the same features, whichever nodes they come from
            reads = Reads(FEATURES) if group.reads.what == FEATURES else group.reads
            if reads not in self._first:
                self._first[reads] = self.total
                self.total += group.x.shape[1]
            self._slices.append(slice(self._first[reads], self._first[reads] + group.x.shape[1]))

    def of_group(self, number: int) -> slice:
        return self._slices[number]

    def joined(self, parts: Sequence[Tensor]) -> Tensor:
        """The columns of each group [..., columns] side by side, those that are shared added up."""
        if len(parts) == 1:
            return parts[0]
        total = parts[0].new_zeros(*parts[0].shape[:-1], self.total)
        for part, place in zip(parts, self._slices, strict=True):
            total[..., place] += part
        return total

    def read(self, number: int) -> tuple[Reads, int]:
        """What a column is of, and its number in that."""
        reads, first = max(((r, f) for r, f in self._first.items() if f <= number), key=lambda item: item[1])
        return reads, number - first

    def name(self, number: int, names: Names) -> str:
        return column_name(*self.read(number), names)


def _heard(group: TracedGroup, target: Targets) -> tuple[Tensor, Tensor]:
    """The nodes that a single target hears through the filter of a group, and their weights."""
    row = sparse_rows(group.a_bar, target.nodes)
    return row.pattern.indices.long(), row.values.detach()


def some_rows(x: LinearOperator, nodes: Tensor) -> LinearOperator:
    """Features of some nodes, dense or sparse as they are."""
    return Dense(x.matrix[nodes]) if isinstance(x, Dense) else sparse_rows(x, nodes)


def feature_rows(x: LinearOperator, nodes: Tensor) -> Tensor:
    """Features of some nodes [n, f], dense."""
    return x.matrix[nodes] if isinstance(x, Dense) else sparse_rows(x, nodes).to_torch().to_dense()
