"""Which nodes a page shows, where it cannot show all."""

from dataclasses import dataclass

import numpy as np

from ncgnn.page.predictions import Predictions

LISTED = 10
"""Nodes in a list of the most doubtful or surprising ones."""
MOST = 3000
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
    """All nodes of a graph that is small enough; of a larger one those that are ``wanted`` or listed, and a sample: of
    those that accuracy is measured on, then of others that were not for training. What is explained is what is wanted,
    or else what is on the map."""
    total = len(predictions.label)
    listed = [predictions.doubtful(LISTED), predictions.surprising(LISTED)]
    first = np.unique(np.concatenate([np.array(wanted or [], dtype=np.int64), *listed]))
    on_map = np.arange(total) if total <= most else _filled(first, predictions, most)
    explained = on_map if wanted is None else np.unique(wanted)
    is_asked = wanted is not None
    return Choice(on_map, explained, _reason(predictions, len(on_map), len(explained), is_asked), is_asked)


def _filled(first: np.ndarray, predictions: Predictions, most: int) -> np.ndarray:
    draw = np.random.default_rng(0).permutation
    ranked = np.concatenate([first, draw(predictions.judged.nodes), draw(predictions.unseen)])
    _, met = np.unique(ranked, return_index=True)
    return np.sort(ranked[np.sort(met)][: max(most, len(first))])


def _reason(predictions: Predictions, on_map: int, explained: int, is_wanted: bool) -> str:
    total = len(predictions.label)
    if on_map == total:
        shown = f"All {total:,} nodes are on the map"
    else:
        shown = (
            f"The map has {on_map:,} of the graph's {total:,} nodes: those in the lists below, "
            f"{'the requested ones, ' * is_wanted}and others sampled at random, {_rank(predictions)}"
        )
    if is_wanted:
        return f"{shown}. Explained: the {explained:,} requested {'node' if explained == 1 else 'nodes'}."
    return f"{shown}. All of them are explained."


def _rank(predictions: Predictions) -> str:
    judged = predictions.judged
    if len(judged.nodes):
        return f"{judged.kind} nodes first"
    return "of those that were not for training" if predictions.split is not None else "of all"
