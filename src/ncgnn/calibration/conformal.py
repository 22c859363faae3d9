"""Sets of classes that hold the right one as often as asked, whatever the model is worth.

Split conformal prediction (Vovk et al., 2005): where nodes set aside and other nodes come from one shuffle, the right
class of a new node is in its set with a probability of at least the coverage, and at most 1 / (n + 1) more.
"""

from math import ceil

import numpy as np

from ncgnn.errors import InputError


def nonconformity(shares: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How little speaks for the right class of each node [n]: one minus its share."""
    own: np.ndarray = 1 - np.take_along_axis(shares, y[:, None], axis=1)[:, 0]
    return own


def threshold(scores: np.ndarray, coverage: float) -> float:
    """The score up to which a class belongs to a set, from the ``scores`` of nodes set aside."""
    if not 0 < coverage < 1:
        raise InputError(f"the coverage must be above 0 and below 1, not {coverage}")
    rank = max(1, ceil(round((len(scores) + 1) * coverage, 9)))
    if rank > len(scores):
        needed = ceil(round(coverage / (1 - coverage), 9))
        raise InputError(
            f"no honest set can be given: a coverage of {coverage} needs {needed} nodes set aside, the model has"
            f" {len(scores)}; ask for less, or train with more validation nodes"
        )
    return float(np.sort(scores)[rank - 1])


def class_sets(shares: np.ndarray, scores: np.ndarray, coverage: float) -> np.ndarray:
    """Which classes belong to the set of each node [N, C]. A set may be empty: then not even the best class is likely
    enough."""
    inside: np.ndarray = 1 - shares <= threshold(scores, coverage)
    return inside
