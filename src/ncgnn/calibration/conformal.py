"""Prediction sets with a chosen coverage, independent of the quality of the model.

Split conformal prediction (Vovk et al., 2005): if held-out and new nodes are exchangeable, the set of a new node
contains its class with a probability of at least the coverage, and at most 1 / (n + 1) more.
"""

from math import ceil

import numpy as np

from ncgnn.errors import InputError


def nonconformity(shares: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Conformal score of each node [n]: one minus the value of the correct class."""
    own: np.ndarray = 1 - np.take_along_axis(shares, y[:, None], axis=1)[:, 0]
    return own


def threshold(scores: np.ndarray, coverage: float) -> float:
    """The maximum score of classes in a set, from the ``scores`` of held-out nodes."""
    if not 0 < coverage < 1:
        raise InputError(f"the coverage must be above 0 and below 1, not {coverage}")
    rank = max(1, ceil(round((len(scores) + 1) * coverage, 9)))
    if rank > len(scores):
        needed = ceil(round(coverage / (1 - coverage), 9))
        raise InputError(
            f"a coverage of {coverage} needs at least {needed} held-out nodes, but the model has {len(scores)}:"
            " choose a lower coverage, or train with more validation nodes"
        )
    return float(np.sort(scores)[rank - 1])


def class_sets(shares: np.ndarray, scores: np.ndarray, coverage: float) -> np.ndarray:
    """Which classes belong to the set of each node [N, C]. A set may be empty: then not even the best class is likely
    enough."""
    inside: np.ndarray = 1 - shares <= threshold(scores, coverage)
    return inside
