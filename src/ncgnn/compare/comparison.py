"""NCGNN beside simpler models on one split."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.classifier.estimator import check_trained_here
from ncgnn.compare.rivals import RIVALS, Knows, Rival
from ncgnn.data import complete, standardise
from ncgnn.data.splits import judged_nodes, nodes_to_test
from ncgnn.errors import InputError


@dataclass(frozen=True)
class Row:
    """How good a model is on one split.

    Attributes:
        model: its name.
        knows: ``features``, ``graph`` (edges and labels) or ``both``.
        val_accuracy: on the validation nodes, which chose its weights.
        test_accuracy: on the test nodes; ``None`` if there are none.
        seconds: of training and predicting.
        judged: the nodes that decide: test nodes or, if there are none, validation nodes.
        better, worse: how many of these NCGNN alone, and this model alone, predicts right.
    """

    model: str
    knows: Knows
    val_accuracy: float
    test_accuracy: float | None
    seconds: float
    judged: int
    better: int
    worse: int

    @property
    def decisive(self) -> float:
        """Accuracy on the nodes that decide."""
        return self.val_accuracy if self.test_accuracy is None else self.test_accuracy


def compare(data: Data, classifier: NCGNNClassifier, seed: int = 0, rivals: Sequence[Rival] = RIVALS) -> Iterator[Row]:
    """NCGNN's row, then one for each rival as soon as it is trained, all on the split of ``data``."""
    check_trained_here(classifier)
    own = classifier.decision_function(data).argmax(axis=1)
    data = standardise(complete(data))
    yield _row("NCGNN", "both", data, own, own, classifier.seconds_)
    for rival in rivals:
        start = perf_counter()
        predicted = _predict(rival, data, seed)
        yield _row(rival.name, rival.knows, data, predicted, own, perf_counter() - start)


def _predict(rival: Rival, data: Data, seed: int) -> np.ndarray:
    try:
        return rival.predict(data, seed)
    except InputError as error:
        raise InputError(f"{rival.name}: {error}") from None


def _row(name: str, knows: Knows, data: Data, predicted: np.ndarray, own: np.ndarray, seconds: float) -> Row:
    y, val, test = (value.numpy() for value in (data.y, data.val_mask, nodes_to_test(data)))
    right, own_right = predicted == y, own == y
    judged = judged_nodes(data).numpy()
    return Row(
        name,
        knows,
        float(right[val].mean()),
        float(right[test].mean()) if test.any() else None,
        round(seconds, 3),
        int(judged.sum()),
        int((own_right & ~right)[judged].sum()),
        int((right & ~own_right)[judged].sum()),
    )
