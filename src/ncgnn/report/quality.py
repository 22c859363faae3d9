"""How good a model is on nodes it was not trained on, class by class."""

from dataclasses import dataclass
from statistics import fmean

import numpy as np
from sklearn.metrics import confusion_matrix
from torch_geometric.data import Data

from ncgnn.data.splits import judged_nodes, nodes_to_test


@dataclass(frozen=True)
class ClassQuality:
    """One class: how many nodes belong to it, how many of these are found, and how many said to belong to it do."""

    name: str
    nodes: int
    recall: float | None
    precision: float | None


@dataclass(frozen=True)
class Confusion:
    """So many nodes of a class are taken for another."""

    count: int
    label: str
    taken_for: str


@dataclass(frozen=True)
class Quality:
    """What the judged nodes show.

    Attributes:
        judged: ``test``, or ``validation`` where there are no test nodes.
        nodes: how many they are.
        accuracy: share that is predicted right.
        frequent: the most frequent class of the training nodes.
        frequent_accuracy: how many would be right if it were predicted for all.
        classes: those with nodes or predictions, the one that is found least first.
        confusions: the most frequent first.
    """

    judged: str
    nodes: int
    accuracy: float
    frequent: str
    frequent_accuracy: float
    classes: tuple[ClassQuality, ...]
    confusions: tuple[Confusion, ...]

    @property
    def found(self) -> float:
        """Share of a class's nodes that is found, averaged over classes: accuracy in which rare classes count alike."""
        return fmean(one.recall for one in self.classes if one.recall is not None)


def quality(data: Data, predicted: np.ndarray) -> Quality:
    """``predicted`` are class numbers [N]."""
    mask = judged_nodes(data).numpy()
    y, names = data.y.numpy(), list(data.class_names)
    counts = confusion_matrix(y[mask], predicted[mask], labels=range(len(names)))
    frequent = int(np.bincount(y[data.train_mask.numpy()]).argmax())
    return Quality(
        "test" if nodes_to_test(data).any() else "validation",
        int(mask.sum()),
        float(counts.trace() / counts.sum()),
        names[frequent],
        float(counts[frequent].sum() / counts.sum()),
        _classes(counts, names),
        _confusions(counts, names),
    )


def _classes(counts: np.ndarray, names: list[str]) -> tuple[ClassQuality, ...]:
    nodes, said, right = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()
    found = [
        ClassQuality(name, int(nodes[i]), _share(right[i], nodes[i]), _share(right[i], said[i]))
        for i, name in enumerate(names)
        if nodes[i] or said[i]
    ]
    return tuple(sorted(found, key=lambda one: 1.0 if one.recall is None else one.recall))


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None


def _confusions(counts: np.ndarray, names: list[str]) -> tuple[Confusion, ...]:
    pairs = [(int(counts[i, j]), names[i], names[j]) for i, j in zip(*np.nonzero(counts), strict=True) if i != j]
    return tuple(Confusion(*pair) for pair in sorted(pairs, key=lambda pair: -pair[0]))
