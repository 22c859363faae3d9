"""The whole model: primary capsules, graph filter, capsule graph layers, lengths."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn

from ncgnn.nn.capsules import Init, PrimaryCapsules
from ncgnn.nn.filter import GraphFilter, PreparedFilter
from ncgnn.nn.groups import Beliefs, CapsuleGroup
from ncgnn.nn.kernels.blocks import Votes, fill_in_blocks, route_in_blocks
from ncgnn.nn.routing import CapsuleGraphLayer, Couplings, Routing, lengths, squashed_lengths
from ncgnn.sparse import LinearOperator, as_operator, is_fused

MOST_BYTES = 1 << 29  # of votes that are computed at once; with what else training needs this is about 5 GB


class NCGNN(nn.Module):
    r"""Node-level capsule graph neural network.

    Args:
        in_channels: number of features.
        out_channels: number of classes.
        filter: the graph filter: :class:`~ncgnn.AttentionFilter` (NCGNN-A),
            :class:`~ncgnn.DiffusionFilter` (NCGNN-D), or your own :class:`~ncgnn.GraphFilter`.
        num_capsules: primary capsules per node, K.
        primary_channels: size of a primary capsule, f_p.
        class_channels: size of a class capsule, f_c.
        iterations: routing iterations, T.
        beta: scale of the agreement in equation 13; 1 in the paper.
        dropout: dropout rate on the primary capsules.
        hidden: ``(capsules, channels)`` of further capsule graph layers before the class layer; the paper has none.
        init: weight initialisation, ``"uniform"`` in ±1/sqrt(inputs) or ``"glorot"``.
        early_dropout: dropout rate on the primary capsules before their normalisation.
        feature_dropout: dropout rate on the features.
        groups: further groups of capsules, routed together with those of ``in_channels``; the paper has none. A group
            of :class:`Beliefs` comes last.
        name: what explanations call the first group.

    Shapes:
        - **input:** features [N, f] (dense or ``torch.sparse_csr``) and ``edge_index`` [2, E] with an optional
          ``edge_weight`` [E], or a prepared filter in place of both; with several groups, a list with the input of
          each, and a list of prepared filters
        - **output:** class scores [N, C] in [0, 1), the lengths of the class capsules
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        filter: GraphFilter,
        num_capsules: int = 8,
        primary_channels: int = 64,
        class_channels: int = 16,
        iterations: int = 3,
        beta: float = 1.0,
        dropout: float = 0.9,
        hidden: Sequence[tuple[int, int]] = (),
        init: Init = "uniform",
        early_dropout: float = 0.0,
        feature_dropout: float = 0.0,
        groups: Sequence[CapsuleGroup | Beliefs] = (),
        name: str = "features",
    ) -> None:
        super().__init__()
        if not isinstance(filter, GraphFilter):
            raise TypeError(f"filter must be a GraphFilter, such as AttentionFilter(), not {filter!r}")
        _check_groups(groups, primary_channels, hidden)
        self.primary = PrimaryCapsules(
            in_channels, num_capsules, primary_channels, dropout, init, early_dropout, feature_dropout
        )
        self.filter = filter
        self.name = name
        self.further = nn.ModuleList(groups)
        capsules = num_capsules + sum(group.num_capsules for group in groups if isinstance(group, CapsuleGroup))
        sizes = [(capsules, primary_channels), *hidden, (out_channels, class_channels)]
        self.layers = nn.ModuleList(
            CapsuleGraphLayer(*before, *after, iterations=iterations, beta=beta, init=init)
            for before, after in pairwise(sizes)
        )

    @property
    def groups(self) -> list["NCGNN | CapsuleGroup | Beliefs"]:
        """All groups of capsules, each with ``name``, ``filter`` and ``num_capsules``; the first is the model's own."""
        return [self, *cast(list[CapsuleGroup | Beliefs], list(self.further))]

    @property
    def num_capsules(self) -> int:
        """Capsules of the first group."""
        return self.primary.num_capsules

    @property
    def beliefs(self) -> Beliefs | None:
        """The group of beliefs, if there is one."""
        last = self.groups[-1]
        return last if isinstance(last, Beliefs) else None

    @property
    def capsule_layers(self) -> list[CapsuleGraphLayer]:
        """The capsule graph layers; the last one is the class layer."""
        return cast(list[CapsuleGraphLayer], list(self.layers))

    def reset_parameters(self) -> None:
        self.primary.reset_parameters()
        self.filter.reset_parameters()
        for group in self.groups[1:]:
            group.reset_parameters()
        for layer in self.capsule_layers:
            layer.reset_parameters()

    def forward(
        self,
        x: Tensor | LinearOperator | Sequence[Tensor | LinearOperator],
        edge_index: Tensor | PreparedFilter | Sequence[PreparedFilter],
        edge_weight: Tensor | None = None,
        prior: Tensor | None = None,
        return_routing: bool = False,
        couplings: Couplings | None = None,
        targets: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Routing]:
        """Class scores.

        Args:
            x: node features; use ``ncgnn.sparse.as_operator(x)`` for repeated calls with the same features.
            edge_index: edges, or the prepared filter from ``model.filter.prepare(edge_index, num_nodes)``,
                which avoids preparing it in each call.
            edge_weight: weights of the edges.
            prior: initial b of the class layer, broadcastable to [N, K, C].
            return_routing: also return the :class:`Routing` of the class layer.
            couplings: may replace the couplings of the class layer; see :func:`~ncgnn.nn.route`.
            targets: the nodes whose scores and class capsules are wanted; the last iteration leaves out the others.
        """
        inputs = [as_operator(one) for one in each(x)]
        a_bar = self.filters(inputs, edge_index, edge_weight)
        last = self._last(a_bar, targets)
        layers = self.capsule_layers
        if not return_routing and prior is None and couplings is None and self._goes_in_blocks(inputs):
            return self._wanted(self._scores_in_blocks(inputs, a_bar, last), targets)
        votes = self.votes(inputs, layers[0].weight)
        for before, after in pairwise(layers):
            votes = after.votes(before.route(votes, a_bar).capsules)
        routed = [group.num_capsules for group in self._routed]
        sizes = routed if len(routed) > 1 else None
        routing = layers[-1].route(votes, a_bar[: len(routed)], prior, sizes, couplings, last)
        if self.beliefs is not None:
            routing = self.beliefs(inputs[-1], routing, a_bar[-1])
        scores = self._wanted(lengths(routing.capsules), targets)
        if not return_routing:
            return scores
        xi = self.filter.hop_weights()
        return scores, replace(routing, hop_weights=None if xi is None else xi.to(scores))

    def filters(
        self, inputs: Sequence[LinearOperator], edges: Any, edge_weight: Tensor | None = None
    ) -> list[LinearOperator]:
        """The filter of each group, as an operator."""
        nodes, dtype = inputs[0].shape[0], inputs[0].parameter.dtype
        if isinstance(edges, Tensor):
            edges = [group.filter.prepare(edges, nodes, edge_weight, dtype) for group in self.groups]
        elif edge_weight is not None:
            raise ValueError("pass edge_weight to filter.prepare, not with a prepared filter")
        prepared = each(edges)
        if not len(inputs) == len(prepared) == len(self.groups):
            raise ValueError(
                f"the model has {len(self.groups)} groups of capsules: give an input and a filter for each, "
                f"not {len(inputs)} and {len(prepared)}"
            )
        for one in prepared:
            if one.num_nodes != nodes:
                raise ValueError(f"the filter was prepared for {one.num_nodes} nodes, x has {nodes}")
        return [group.filter(one) for group, one in zip(self.groups, prepared, strict=True)]

    def _last(self, a_bar: Sequence[LinearOperator], targets: Tensor | None) -> list[LinearOperator] | None:
        """The filters of the last iteration, if it is for some nodes only. Beliefs need the scores of all."""
        if targets is None or self.beliefs is not None:
            return None
        return [one.take(targets) for one in a_bar]

    def _wanted(self, scores: Tensor, targets: Tensor | None) -> Tensor:
        return scores if targets is None or self.beliefs is None else scores[targets]

    def votes(self, inputs: Sequence[LinearOperator], weight: Tensor) -> Tensor:
        """The votes of all groups, except for beliefs, which come from the others."""
        if self._goes_in_blocks(inputs) and not torch.is_grad_enabled():
            sizes = inputs[0].shape[0], *weight.shape[:1], *weight.shape[2:]
            return fill_in_blocks(self._votes_of_blocks(inputs, lambda: weight), weight, sizes)
        weights = self._by_group(weight)
        votes = [group.primary.votes(x, w) for group, x, w in zip(self._routed, inputs, weights, strict=False)]
        return votes[0] if len(votes) == 1 else torch.cat(votes, dim=1)

    def _goes_in_blocks(self, inputs: Sequence[LinearOperator]) -> bool:
        """Whether the votes of all nodes together are too large: then they are computed in blocks."""
        layer = self.capsule_layers[-1]
        votes = inputs[0].shape[0] * layer.in_capsules * layer.out_capsules * layer.out_channels
        is_large = votes * inputs[0].parameter.element_size() > MOST_BYTES
        return is_large and len(self.layers) == 1 and all(is_fused(x.parameter) for x in inputs)

    def _scores_in_blocks(
        self,
        inputs: Sequence[LinearOperator],
        a_bar: Sequence[LinearOperator],
        last: Sequence[LinearOperator] | None,
    ) -> Tensor:
        layer, groups = self.capsule_layers[0], self._routed
        primaries = [group.primary for group in groups]
        weights = [layer.weight, *(weight for primary in primaries for weight in (primary.weight, primary.bias))]
        u = route_in_blocks(
            self._votes_of_blocks(inputs, lambda: layer.weight),
            [weight for weight in weights if weight.requires_grad],
            a_bar[: len(groups)],
            layer.bias,
            [group.num_capsules for group in groups],
            layer.iterations,
            layer.beta,
            last,
        )
        scores = squashed_lengths(u)
        if self.beliefs is None:
            return scores
        return squashed_lengths(u + self.beliefs.messages(inputs[-1], scores, a_bar[-1]))

    def _votes_of_blocks(self, inputs: Sequence[LinearOperator], weight: Callable[[], Tensor]) -> Votes:
        """The votes of a range of nodes; ``weight`` is read again for each, as its gradient may be needed again."""
        parts = [
            group.primary.votes_in_blocks(x, partial(self._of_group, number, weight))
            for number, (group, x) in enumerate(zip(self._routed, inputs, strict=False))
        ]
        return lambda start, stop: torch.cat([part(start, stop) for part in parts], dim=1)

    @property
    def _routed(self) -> list["NCGNN | CapsuleGroup"]:
        """All groups but beliefs, which come from the others."""
        return [group for group in self.groups if not isinstance(group, Beliefs)]

    def _of_group(self, number: int, weight: Callable[[], Tensor]) -> Tensor:
        return self._by_group(weight())[number]

    def _by_group(self, weight: Tensor) -> tuple[Tensor, ...]:
        parts: tuple[Tensor, ...] = weight.split([group.num_capsules for group in self._routed])
        return parts


def each(given: Any) -> list[Any]:
    """One value per group; a single one stands for itself."""
    return list(given) if isinstance(given, list | tuple) else [given]


def _check_groups(groups: Sequence[CapsuleGroup | Beliefs], channels: int, hidden: Sequence[tuple[int, int]]) -> None:
    if groups and hidden:
        raise ValueError("several groups of capsules need a single capsule layer: remove hidden")
    if any(isinstance(group, Beliefs) for group in groups[:-1]):
        raise ValueError("beliefs come from all other groups: put them last")
    wrong = [group.primary.channels for group in groups if isinstance(group, CapsuleGroup)]
    if any(size != channels for size in wrong):
        raise ValueError(f"all groups need capsules of the same size: not {channels} and {wrong}")
