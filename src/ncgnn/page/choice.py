"""Which nodes a page shows, where it cannot show all."""

from dataclasses import dataclass

import numpy as np

from ncgnn.page.predictions import Predictions

LISTED = 10
"""Nodes in a list of the most doubtful or surprising ones."""
MOST = 6000
"""Nodes on a map."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Numbers of the nodes on the map and of those that are explained, how they were chosen, in words, and whether
    those that are explained were asked for."""

    on_map: np.ndarray
    explained: np.ndarray
    reason: str
    is_asked: bool


def choose(predictions: Predictions, wanted: list[int] | None = None, most: int = MOST) -> Choice:
    """All nodes of a graph that is small enough; of a larger one those that are ``wanted`` or listed, then those that
    have no label, which one came for, the least sure first, then those that accuracy is measured on, then the others.
    What is explained is what is wanted, or else what is on the map."""
    total = len(predictions.label)
    ranked = ranking(predictions, wanted)
    on_map = np.arange(total) if total <= most else np.sort(ranked[: max(most, len(wanted or []))])
    explained = on_map if wanted is None else np.unique(wanted)
    is_asked = wanted is not None
    return Choice(on_map, explained, _reason(predictions, len(on_map), len(explained), is_asked), is_asked)


def ranking(predictions: Predictions, wanted: list[int] | None = None) -> np.ndarray:
    """All nodes, those first whose explanations are most likely to be looked for."""
    draw = np.random.default_rng(0).permutation
    listed = [predictions.doubtful(LISTED), predictions.surprising(LISTED)]
    rest = [draw(predictions.judged.nodes), draw(predictions.unseen), np.arange(len(predictions.label))]
    first = np.array(wanted or [], dtype=np.int64)
    every = np.concatenate([first, predictions.unlabelled[:LISTED], *listed, predictions.unlabelled, *rest])
    _, met = np.unique(every, return_index=True)
    found: np.ndarray = every[np.sort(met)]
    return found


def _reason(predictions: Predictions, on_map: int, explained: int, is_wanted: bool) -> str:
    total = len(predictions.label)
    if on_map == total:
        shown = f"All {total:,} nodes are on the map"
    else:
        shown = (
            f"The map has {on_map:,} of the graph's {total:,} nodes: those in the lists below, "
            f"{'the requested ones, ' * is_wanted}{'those to be predicted, ' * bool(len(predictions.unlabelled))}"
            f"and others sampled at random, {_rank(predictions)}"
        )
    if is_wanted:
        return f"{shown}. Explained: the {explained:,} requested {'node' if explained == 1 else 'nodes'}."
    return f"{shown}. All of them are explained."


def _rank(predictions: Predictions) -> str:
    judged = predictions.judged
    if len(judged.nodes):
        return f"{judged.kind} nodes first"
    return "of those that were not for training" if predictions.split is not None else "of all"
