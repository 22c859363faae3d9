"""Explanations of a model that was trained in batches, without the full batch: only a part is in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.batches import Around, Batches, KeptRouting, Links, Read
from ncgnn.batches.whole import BLOCK
from ncgnn.explain.capsule_names import capsule_names
from ncgnn.explain.counterfactual import MOST, Counterfactual, What
from ncgnn.explain.explainer import GraphExplainer, node_numbers
from ncgnn.explain.node import NodeExplanation
from ncgnn.explain.removal import Removal
from ncgnn.explain.trace import Selection, check_explained, selection_of
from ncgnn.explain.wording import Wording
from ncgnn.nn import NCGNN, Routing, lengths
from ncgnn.scored import Names, Scored, part_of
from ncgnn.sparse import LinearOperator, pool
from ncgnn.train.inputs import Inputs

PART = 512
"""Nodes that are explained at a time."""

AsScored = Callable[[Data, Inputs, Tensor, Routing], Scored]


class PartsExplainer:
    """Explains the scores of a classifier as :class:`GraphExplainer` does. Routing of all nodes is computed once and
    kept in files; each part reads what concerns its nodes and their neighbours in the filter.

    Args:
        data: the complete graph.
        inputs: the same, as the model reads it.
        module: the model.
        scored: makes scores of some nodes.
        whole: makes an explainer on the full batch, for counterfactuals.
    """

    def __init__(
        self,
        data: Data,
        inputs: Batches,
        module: NCGNN,
        scored: AsScored,
        whole: Callable[[], GraphExplainer],
    ) -> None:
        check_explained(module)
        self.data, self.inputs, self._scored, self._make_whole = data, inputs, scored, whole
        self.kept = KeptRouting(module, inputs)

    @cached_property
    def names(self) -> Names:
        """Of all nodes, without their labels and split."""
        one = self._scored_at(np.arange(1))[0].names
        return Names(self.data.node_ids, one.classes, one.features, (), None, self.data.get("node_titles"), one.linked)

    @property
    def selection(self) -> Selection:
        """How selective routing is."""
        return selection_of(self.kept.couplings)

    def explain(
        self,
        nodes: Sequence[object] | Tensor | None = None,
        against: str | None = None,
        features: bool = False,
        top: int | None = 16,
        target: str | None = None,
    ) -> Iterator[NodeExplanation]:
        """See :meth:`GraphExplainer.explain`."""
        numbers = node_numbers(self.names, nodes).numpy()
        for start in range(0, len(numbers), PART):
            chosen, order = np.unique(numbers[start : start + PART], return_inverse=True)
            part = self._at(chosen)
            targets = torch.from_numpy(part.around.targets[order])
            for one in part.explain(targets, against, features, top, target):
                yield one.of(self)
            del part
            pool.clear()  # the next part has another size, so its blocks would be kept beside these

    def counterfactual(self, node: object, what: What = "neighbours", most: int = MOST) -> Counterfactual:
        """See :meth:`GraphExplainer.counterfactual`; takes forward passes on the full batch."""
        return self._whole.counterfactual(node, what, most)

    @property
    def removal(self) -> Removal:
        """The model on the full batch without some of what it hears."""
        return self._whole.removal

    @cached_property
    def _whole(self) -> GraphExplainer:
        return self._make_whole()

    @cached_property
    def _first(self) -> "_Part":
        """Any part, for what is the same in all."""
        return self._at(np.arange(1))

    def _at(self, nodes: np.ndarray) -> "_Part":
        scored, around = self._scored_at(nodes)
        return _Part(self, around, replace(scored, whole=self.names))

    def _scored_at(self, nodes: np.ndarray) -> tuple[Scored, Around]:
        around = self.kept.around(nodes)
        data = part_of(self.data, around.nodes)
        for key in ("encoding", "numbers"):
            if self.data.get(key) is not None:
                data[key] = self.data[key][around.nodes] if key == "numbers" else self.data[key]
        return self._scored(data, around.inputs, lengths(around.routing.capsules), around.routing), around

    @cached_property
    def capsule_names(self) -> list[str]:
        """What each capsule responds to, beside its number."""
        return capsule_names(self._first.shares, self.names, [self._read(read) for read in self.inputs.read])

    def _read(self, read: Read) -> Iterator[LinearOperator]:
        nodes = len(self.data.y)
        return (read(np.arange(start, min(start + BLOCK, nodes))) for start in range(0, nodes, BLOCK))

    @cached_property
    def links(self) -> Links:
        return Links(self.data.edge_index, len(self.data.y), self.inputs.folder)

    @cached_property
    def wording(self) -> Wording:
        return Wording(self._first.shares.columns, self.names, self.data)


class _Part(GraphExplainer):
    """Explains some nodes; what depends on all nodes comes from the explainer of all."""

    def __init__(self, all: PartsExplainer, around: Around, scored: Scored) -> None:
        super().__init__(scored)
        self.all, self.around = all, around
        self.shares = self._feature_shares

    @cached_property
    def capsule_names(self) -> list[str]:
        return self.all.capsule_names

    @cached_property
    def _neighbours(self) -> Callable[[int], set[int]]:
        all, nodes = self.all, self.around.nodes  # a part that holds itself would stay in memory
        return lambda node: all.links.among(node, nodes)

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self.shares.columns, self.names, self.scored.data, self.all.wording)
