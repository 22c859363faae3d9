"""Compare a model with simpler ones on one split."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.splits import judged_nodes, nodes_to_test
from ncgnn.errors import InputError
from ncgnn.models import Model, PreparedGraph, all_models, find_model
from ncgnn.models.base.model import Knows
from ncgnn.scored import Scored


@dataclass(frozen=True)
class Compared:
    """Accuracy of a model on one split.

    Attributes:
        model: its name.
        knows: ``features``, ``graph`` (edges and labels) or ``both``.
        val_accuracy: accuracy on the validation nodes, which were used to select the weights.
        test_accuracy: accuracy on the test nodes; ``None`` if there are none.
        seconds: time for training and prediction.
        judged: number of nodes the verdict is based on: test nodes or, if there are none, validation nodes.
        better, worse: number of these that only the compared model, and only this one, predicts correctly.
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
        """Accuracy on the judged nodes."""
        return self.val_accuracy if self.test_accuracy is None else self.test_accuracy


def rivals(own: str, of_search: bool = False) -> list[Model[Any]]:
    """The simpler models to compare this one with, simplest first; or those of them that a search trains too."""
    ranks = {model.name: model.rival for model in all_models() if model.rival is not None and model.name != own}
    found = [find_model(name) for name in sorted(ranks, key=ranks.__getitem__)]
    return [model for model in found if model.in_search] if of_search else found


def compare(
    graph: PreparedGraph,
    own: Model[Any],
    scored: Scored,
    seconds: float,
    others: Sequence[Model[Any]],
    seed: int = 0,
) -> Iterator[Compared]:
    """The row of the model whose scores are given, then one for each other as soon as it is trained.

    Args:
        graph: with the split.
        own: the model.
        scored: the scores of the model, trained on it in ``seconds``.
        others: trained with each of their candidate settings, of which the best on validation counts.
        seed: of the others.
    """
    data, right = graph.data, scored.predicted
    yield _row(own.title, own.knows, data, right, right, seconds)
    for model in others:
        start = perf_counter()
        predicted = _predict(model, graph, seed)
        yield _row(model.title, model.knows, data, predicted, right, perf_counter() - start)


def compare_results(
    data: Data, own: Model[Any], scored: Scored, seconds: float, others: Sequence[tuple[Model[Any], Tensor, float]]
) -> list[Compared]:
    """The rows of models that are already trained: the model whose scores are given, and others with the normalised
    scores [N, C] and seconds of each."""
    right = scored.predicted
    rows = [_row(own.title, own.knows, data, right, right, seconds)]
    for model, shares, took in others:
        rows.append(_row(model.title, model.knows, data, shares.argmax(dim=1).numpy(), right, took))
    return rows


def _predict(model: Model[Any], graph: PreparedGraph, seed: int) -> np.ndarray:
    try:
        fits = []
        for candidate in model.candidates():
            settings = candidate.model_copy(update={"seed": seed})
            inputs = model.prepare(graph, settings)
            fits.append((model.fit(inputs, graph.data, settings), inputs))
        best, inputs = max(fits, key=lambda one: one[0].best.val_accuracy)
        classes: np.ndarray = model.scores(best.module, inputs)[0].argmax(dim=1).numpy()
        return classes
    except InputError as error:
        raise InputError(f"{model.title}: {error}") from None


def _row(name: str, knows: Knows, data: Data, predicted: np.ndarray, own: np.ndarray, seconds: float) -> Compared:
    y, val, test = (value.numpy() for value in (data.y, data.val_mask, nodes_to_test(data)))
    right, own_right = predicted == y, own == y
    judged = judged_nodes(data).numpy()
    return Compared(
        name,
        knows,
        float(right[val].mean()),
        float(right[test].mean()) if test.any() else None,
        round(seconds, 3),
        int(judged.sum()),
        int((own_right & ~right)[judged].sum()),
        int((right & ~own_right)[judged].sum()),
    )
