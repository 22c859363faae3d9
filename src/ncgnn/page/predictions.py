"""What is predicted for each node, beside what is known of it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from ncgnn.explain import GraphExplainer, Trace, by_group, make_targets, of_bias


class Judged(NamedTuple):
    """Nodes with labels to compare with: those for ``test`` or ``validation``, or all that are ``labelled``."""

    kind: str
    nodes: np.ndarray


@dataclass(frozen=True, eq=False)
class Predictions:
    """One row per node.

    Attributes:
        best: the two classes with the highest scores [N, 2].
        probability: of these [N, 2].
        label: the known class, -1 where there is none or one that the model does not know [N].
        split: ``train``, ``val``, ``test``, ``calibration`` or nothing [N]; ``None`` where no split is known.
        groups: the share of each group of capsules in what tells the two classes apart [N, G]; ``None`` where there is
            only one group.
    """

    best: np.ndarray
    probability: np.ndarray
    label: np.ndarray
    split: np.ndarray | None
    groups: np.ndarray | None = None

    @classmethod
    def of(cls, explainer: GraphExplainer) -> "Predictions":
        lengths, names = explainer.trace.scores.numpy(), explainer.names
        best = np.argsort(-lengths, axis=1, kind="stable")[:, :2]
        probability = np.take_along_axis(explainer.probabilities.numpy(), best, axis=1)
        known = {name: number for number, name in enumerate(names.classes)}
        label = np.array([-1 if name is None else known.get(name, -1) for name in names.labels])
        split = None if names.splits is None else np.array(names.splits)
        return cls(best, probability, label, split, _group_shares(explainer.trace, best))

    @property
    def predicted(self) -> np.ndarray:
        first: np.ndarray = self.best[:, 0]
        return first

    @property
    def main_group(self) -> np.ndarray | None:
        """The number of the group that puts the predicted class ahead most."""
        return None if self.groups is None else self.groups.argmax(axis=1)

    @property
    def judged(self) -> "Judged":
        """The nodes on which accuracy is measured: the labelled ones for test or, if there are none, for validation;
        all labelled ones where no split is known."""
        if self.split is None:
            return Judged("labelled", np.flatnonzero(self.label >= 0))
        tested, validated = (np.flatnonzero((self.label >= 0) & (self.split == role)) for role in ("test", "val"))
        if len(tested) or not len(validated):
            return Judged("test", tested)
        return Judged("validation", validated)

    @property
    def unseen(self) -> np.ndarray:
        """The nodes that the model was not trained on, as far as is known."""
        return np.arange(len(self.label)) if self.split is None else np.flatnonzero(self.split != "train")

    @property
    def unlabelled(self) -> np.ndarray:
        """The nodes to be predicted, the least sure first."""
        lead = self.probability[:, 0] - self.probability[:, 1]
        nodes = np.flatnonzero(self.label < 0)
        order: np.ndarray = nodes[np.argsort(lead[nodes], kind="stable")]
        return order

    def doubtful(self, most: int) -> np.ndarray:
        """Unseen nodes with a label whose two best classes are nearest to each other, the nearest first; those without
        one have a list of their own."""
        nodes = self.unseen[self.label[self.unseen] >= 0]
        lead = self.probability[nodes, 0] - self.probability[nodes, 1]
        return np.take(nodes, np.argsort(lead, kind="stable")[:most])

    def surprising(self, most: int) -> np.ndarray:
        """Unseen nodes whose label is another than predicted, the surest prediction first."""
        wrong = self.unseen[(self.label[self.unseen] >= 0) & (self.label != self.predicted)[self.unseen]]
        order = np.argsort(-self.probability[wrong, 0], kind="stable")[:most]
        return np.take(wrong, order)


@torch.no_grad()
def _group_shares(trace: Trace, best: np.ndarray) -> np.ndarray | None:
    first, second = torch.from_numpy(best).t()
    targets = make_targets(trace, torch.arange(len(best)), first, second)
    parts = by_group(trace, targets)
    if parts is None:
        return None
    whole = parts.abs().sum(dim=1) + of_bias(trace, targets).abs()
    shares: np.ndarray = (parts / whole.clamp(min=torch.finfo(parts.dtype).tiny)[:, None]).numpy()
    return shares
