"""The whole model: primary capsules, graph filter, capsule graph layers, lengths."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn

from ncgnn.nn.capsules import Init, PrimaryCapsules
from ncgnn.nn.filter import GraphFilter, PreparedFilter
from ncgnn.nn.routing import CapsuleGraphLayer, Routing
from ncgnn.sparse import LinearOperator, as_operator


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

    Shapes:
        - **input:** features [N, f] (dense or ``torch.sparse_csr``) and ``edge_index`` [2, E] with an optional
          ``edge_weight`` [E], or a prepared filter in place of both
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
    ) -> None:
        super().__init__()
        if not isinstance(filter, GraphFilter):
            raise TypeError(f"filter must be a GraphFilter, such as AttentionFilter(), not {filter!r}")
        self.primary = PrimaryCapsules(
            in_channels, num_capsules, primary_channels, dropout, init, early_dropout, feature_dropout
        )
        self.filter = filter
        sizes = [(num_capsules, primary_channels), *hidden, (out_channels, class_channels)]
        self.layers = nn.ModuleList(
            CapsuleGraphLayer(*before, *after, iterations=iterations, beta=beta, init=init)
            for before, after in pairwise(sizes)
        )

    @property
    def _capsule_layers(self) -> list[CapsuleGraphLayer]:
        return cast(list[CapsuleGraphLayer], list(self.layers))

    def reset_parameters(self) -> None:
        self.primary.reset_parameters()
        self.filter.reset_parameters()
        for layer in self._capsule_layers:
            layer.reset_parameters()

    def forward(
        self,
        x: Tensor | LinearOperator,
        edge_index: Tensor | PreparedFilter,
        edge_weight: Tensor | None = None,
        prior: Tensor | None = None,
        return_routing: bool = False,
    ) -> Tensor | tuple[Tensor, Routing]:
        """Class scores of all nodes.

        Args:
            x: node features; use ``ncgnn.sparse.as_operator(x)`` for repeated calls with the same features.
            edge_index: edges, or the prepared filter from ``model.filter.prepare(edge_index, num_nodes)``,
                which avoids preparing it in each call.
            edge_weight: weights of the edges.
            prior: initial b of the class layer, broadcastable to [N, K, C].
            return_routing: also return the :class:`Routing` of the class layer.
        """
        x = as_operator(x)
        a_bar = self.filter(self._prepared(x, edge_index, edge_weight))
        layers = self._capsule_layers
        votes = self.primary.votes(x, layers[0].weight)
        for before, after in pairwise(layers):
            votes = after.votes(before.route(votes, a_bar).capsules)
        routing = layers[-1].route(votes, a_bar, prior)
        scores: Tensor = torch.linalg.vector_norm(routing.capsules, dim=-1)
        if not return_routing:
            return scores
        xi = self.filter.hop_weights()
        return scores, replace(routing, hop_weights=None if xi is None else xi.to(scores))

    def _prepared(
        self, x: LinearOperator, edges: Tensor | PreparedFilter, edge_weight: Tensor | None
    ) -> PreparedFilter:
        if isinstance(edges, Tensor):
            edges = self.filter.prepare(edges, x.shape[0], edge_weight, x.parameter.dtype)
        elif edge_weight is not None:
            raise ValueError("pass edge_weight to filter.prepare, not with a prepared filter")
        if edges.num_nodes != x.shape[0]:
            raise ValueError(f"the filter was prepared for {edges.num_nodes} nodes, x has {x.shape[0]}")
        return edges
