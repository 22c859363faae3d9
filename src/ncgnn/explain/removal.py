"""A model without some of what it hears: other nodes, links of a node, or features of a node.

Each removal has an estimate, what it takes from the node's class capsules with couplings held fixed, and a true effect,
by a full forward pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.explain.contributions import receptive_field, weights_heard
from ncgnn.explain.features import Columns, FeatureShares, OfCapsules, feature_rows
from ncgnn.explain.groups import FEATURES, TracedGroup
from ncgnn.explain.presence import Present, Subject
from ncgnn.explain.trace import Trace
from ncgnn.sparse import LinearOperator

What = Literal["neighbours", "links", "features"]
"""What is taken away: other nodes, links of the node, or features of the node itself."""

Gone = Mapping[str, Sequence[int]]
"""Numbers of what is removed: of ``neighbours``, of the ``links`` of a node to others, of its ``features``."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """What can be taken away: numbers of nodes or of columns of features, and the part that each has in the node's
    class capsules [n, C, f_c]."""

    what: str
    items: list[int]
    parts: Tensor


class Removal:
    """A model on a graph, and what it says without some of it."""

    def __init__(self, trace: Trace, shares: FeatureShares, data: Data) -> None:
        self.trace, self.shares, self.data = trace, shares, data
        self.subject = Subject(trace, data.edge_index)

    @property
    def kinds(self) -> list[What]:
        """What can be removed."""
        return ["neighbours", "links", "features"] if has_links(self.trace.groups) else ["neighbours", "features"]

    @property
    def columns(self) -> Columns:
        return self.shares.columns

    def reduced(self, presence: Tensor) -> "Removal":
        """The same model where nodes are heard with some strength [N] only, 0 for those that are removed."""
        filters = [Present(group.a_bar, presence) for group in self.trace.groups]
        groups = [replace(group, a_bar=a_bar) for group, a_bar in zip(self.trace.groups, filters, strict=True)]
        routing = self.subject.route(filters)
        scores: Tensor = torch.linalg.vector_norm(routing.capsules, dim=-1)
        return Removal(replace(self.trace, groups=groups, routing=routing, scores=scores), self.shares, self.data)

    def class_without(self, node: int, gone: Gone) -> int:
        """The class of a node by a full forward pass without these."""
        return int(self.scores_without(node, gone)[0].argmax())

    @torch.no_grad()
    def scores_without(self, node: int, gone: Gone) -> tuple[Tensor, Tensor]:
        """Scores of a node [C], after and before squashing."""
        filters: list[LinearOperator] = [group.a_bar for group in self.trace.groups]
        if gone.get("links"):
            filters = [self._filter_without(node, gone["links"])]
        if gone.get("neighbours"):
            others = torch.tensor(gone["neighbours"], dtype=torch.int64)
            filters = [Present(a_bar, self.subject.everyone.index_fill(0, others, 0.0)) for a_bar in filters]
        votes = self._votes_without(node, gone["features"]) if gone.get("features") else None
        after, before = self.subject.routed(filters, votes)
        return after[node], before[node]

    def _filter_without(self, node: int, others: Sequence[int]) -> LinearOperator:
        """The filter of the graph without the edges between a node and these."""
        check_links(self.trace.groups)
        source, target = self.data.edge_index
        ends = torch.tensor(others, dtype=torch.int64)
        gone = ((source == node) & torch.isin(target, ends)) | ((target == node) & torch.isin(source, ends))
        weight = self.data.get("edge_weight")
        group = self.trace.groups[0]
        kept = None if weight is None else weight[~gone]
        dtype = group.x.parameter.dtype
        prepared = group.module.filter.prepare(self.data.edge_index[:, ~gone], group.x.shape[0], kept, dtype)
        return self.trace.model.filters([group.x], prepared)[0]

    def _votes_without(self, node: int, features: Sequence[int]) -> Tensor:
        """Votes of all nodes, those of one without some of its features."""
        votes = self.trace.routing.votes.detach().clone()
        for place, (part, group) in enumerate(zip(self.shares.groups, self.trace.groups, strict=True)):
            if not isinstance(part, OfCapsules):
                continue
            x = feature_rows(group.x, torch.tensor([node])).clone()
            mine = self.columns.of_group(place)
            x[:, [f - mine.start for f in features if mine.start <= f < mine.stop]] = 0
            votes[node, group.capsules.start : group.capsules.stop] = self._votes(part, group, x)[0]
        return votes

    def _votes(self, part: OfCapsules, group: TracedGroup, x: Tensor) -> Tensor:
        """Votes of rows of features [n, K, C, f_c]."""
        z = torch.relu((x @ part.w_dot).view(-1, *part.primary.bias.shape) + part.primary.bias.detach())
        h = torch.nn.functional.normalize(z, dim=-1)
        weight = self.trace.layer.weight.detach()[group.capsules.start : group.capsules.stop]
        return torch.einsum("nkq,kqcf->nkcf", h, weight)

    @cached_property
    def ends(self) -> Tensor:
        """Edges in both directions [2, 2 E]."""
        return torch.cat([self.data.edge_index, self.data.edge_index.flip(0)], dim=1)


def has_links(groups: Sequence[TracedGroup]) -> bool:
    """Whether the filter can be made again without single edges."""
    reads = groups[0].reads
    return len(groups) == 1 and reads.what == FEATURES and not reads.direction and not reads.table


def check_links(groups: Sequence[TracedGroup]) -> None:
    if not has_links(groups):
        raise InputError(
            "links are removed one by one only from models with one group of capsules: remove neighbours or features"
        )


@torch.no_grad()
def candidates(removal: Removal, node: int, what: str) -> Candidates:
    """All that can be removed of one kind."""
    if what == "features":
        return _features(removal, node)
    heard = receptive_field(removal.trace, node)
    heard = heard[heard != node]
    if what == "links":
        check_links(removal.trace.groups)
        source, target = removal.ends
        heard = target[(source == node) & (target != node)].unique()
    pairs = zip(weights_heard(removal.trace, node), removal.trace.messages, strict=True)
    parts = reduce(torch.add, (a[heard, None, None] * said[heard] for a, said in pairs))
    return Candidates(what, heard.tolist(), parts)


def _features(removal: Removal, node: int) -> Candidates:
    """The features that the node has, as numbers of columns."""
    trace, at = removal.trace, torch.tensor([node])
    found: dict[int, Tensor] = {}
    for place, (part, group) in enumerate(zip(removal.shares.groups, trace.groups, strict=True)):
        if not isinstance(part, OfCapsules):
            continue
        x = feature_rows(group.x, at)[0]
        mine, own = x.nonzero().flatten(), removal.columns.of_group(place)
        into = (x[mine, None] * part.w_dot[mine]).view(len(mine), *part.primary.bias.shape) * part.gates[node]
        weight = trace.layer.weight.detach()[group.capsules.start : group.capsules.stop]
        couplings = trace.routing.couplings[node, group.capsules.start : group.capsules.stop]
        parts = torch.einsum("nkq,kqcf,kc->ncf", into, weight, couplings)
        parts = parts * weights_heard(trace, node)[place][node]
        for f, one in zip((mine + own.start).tolist(), parts, strict=True):
            found[f] = found[f] + one if f in found else one
    shape = trace.routing.u.shape[1:]
    return Candidates("features", list(found), torch.stack([*found.values()]) if found else torch.zeros(0, *shape))
