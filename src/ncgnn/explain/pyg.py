"""An algorithm for PyTorch Geometric's ``Explainer``."""

import logging
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import MaskType, ModelMode, ModelReturnType, ModelTaskLevel
from torch_geometric.nn import MessagePassing

from ncgnn.errors import InputError
from ncgnn.explain.contributions import by_group
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.heard import batches, heard
from ncgnn.explain.targets import Targets, make_targets
from ncgnn.explain.trace import Trace, trace_model
from ncgnn.explain.walks import by_edge
from ncgnn.nn import NCGNN, PreparedFilter
from ncgnn.sparse import LinearOperator


class CapsuleExplainer(ExplainerAlgorithm):
    """The model's own contributions as an algorithm for :class:`torch_geometric.explain.Explainer`.

    Masks are signed contributions to the score of the explained class before squashing: of nodes (``object``), of each
    feature of each node (``attributes``), of features (``common_attributes``), and of edges. For several nodes, they
    are summed. There is no cut-off by distance: PyG determines it from message passing layers, and there are none here.

    The model is an :class:`~ncgnn.NCGNN` or an :class:`EdgeMasked`, called with ``x, edge_index`` and optionally
    ``edge_weight``. A model with several groups of capsules is a :class:`WithGroups`: masks of nodes and edges cover
    all groups, masks of features the first, and ``group_names`` and ``group_scores`` [G] have the contribution of each.
    """

    def supports(self) -> bool:
        config, given = self.model_config, self.explainer_config
        reasons = {
            "only multiclass classification is supported": config.mode != ModelMode.multiclass_classification,
            "only single nodes can be explained": config.task_level != ModelTaskLevel.node,
            "scores are not probabilities: use return_type='raw'": config.return_type != ModelReturnType.raw,
            "edge masks must be of type object": given.edge_mask_type not in (None, MaskType.object),
        }
        for reason in (reason for reason, is_so in reasons.items() if is_so):
            logging.error("%s: %s", type(self).__name__, reason)
        return not any(reasons.values())

    @torch.no_grad()
    def forward(
        self,
        model: torch.nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Explanation:
        trace = _traced(model, x, edge_index, edge_weight)
        every = torch.arange(x.shape[0])
        nodes = every if index is None else every[index].reshape(-1)
        targets = make_targets(trace, nodes, target.cpu()[nodes])
        masks: dict[str, Any] = {}
        if self.explainer_config.node_mask_type is not None:
            masks["node_mask"] = node_mask(trace, targets, self.explainer_config.node_mask_type)
        if self.explainer_config.edge_mask_type is not None:
            masks["edge_mask"] = by_edge(trace, targets, edge_index, edge_weight)
        groups = by_group(trace, targets)
        if groups is not None:
            masks |= {"group_names": [group.name for group in trace.groups], "group_scores": groups.sum(dim=0)}
        return Explanation(**masks)


def _traced(model: torch.nn.Module, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Trace:
    if isinstance(model, WithGroups):
        return trace_model(model.model, model.inputs_with(x), model.filters)
    model = model.model if isinstance(model, EdgeMasked) else model
    if not isinstance(model, NCGNN):
        raise InputError(f"contributions require an NCGNN, not {type(model).__name__}")
    if len(model.groups) > 1:
        raise InputError("a model with several groups of capsules has several inputs: wrap it in WithGroups")
    return trace_model(model, x, model.filter.prepare(edge_index, x.shape[0], edge_weight, x.dtype))


def node_mask(trace: Trace, targets: Targets, kind: MaskType) -> Tensor:
    """Contributions of nodes [N, 1], of their features [N, f], or of features [1, f], summed over the targets."""
    every = torch.arange(trace.a_bar.shape[1])
    if kind == MaskType.object:
        return _sum(heard(trace, targets[batch]).of_nodes for batch in batches(trace, targets))[:, None]
    shares = FeatureShares(trace)
    single = (shares(targets[i : i + 1]) for i in range(len(targets)))
    columns = shares.columns.of_group(0)
    if kind == MaskType.common_attributes:
        return _sum(one.features for one in single)[None, columns]
    return _sum(shares.of_nodes(one.heard, every) for one in single)[:, columns]


def _sum(parts: Iterable[Tensor]) -> Tensor:
    return reduce(torch.add, parts)


class WithGroups(torch.nn.Module):
    """A model with several groups of capsules as a function of one input, as PyG calls it.

    Args:
        model: the model.
        inputs: the input of each group; that of the first is replaced by ``x``.
        filters: the prepared filter of each group; ``edge_index`` does not change them.
    """

    def __init__(
        self, model: NCGNN, inputs: Sequence[Tensor | LinearOperator], filters: Sequence[PreparedFilter]
    ) -> None:
        super().__init__()
        self.model, self.inputs, self.filters = model, list(inputs), list(filters)
        self.train(model.training)  # PyG's explainer restores the mode of the whole model

    def inputs_with(self, x: Tensor) -> list[Tensor | LinearOperator]:
        return [x, *self.inputs[1:]]

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        scores: Tensor = self.model(self.inputs_with(x), self.filters)
        return scores


class EdgeMasked(MessagePassing):
    """An NCGNN that supports PyG's edge masks, for its metrics: a positive edge mask multiplies the edge weight.

    PyG masks the edges of message passing layers and does not affect models without any.
    """

    def __init__(self, model: NCGNN) -> None:
        super().__init__()
        self.model = model
        self.train(model.training)  # PyG's explainer restores the mode of the whole model

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        if self.explain and self._edge_mask is not None:
            mask = self._edge_mask.sigmoid() if self._apply_sigmoid else self._edge_mask
            ones = mask.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight
            edge_weight = ones * mask.clamp(min=0)
        scores: Tensor = self.model(x, edge_index, edge_weight)
        return scores
