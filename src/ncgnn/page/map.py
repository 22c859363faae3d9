"""Where nodes are on the map: near to each other where their capsules are alike."""

import numpy as np

from ncgnn.tsne import plane

WIDTH = 1000
"""Of the map; places are whole numbers from 0 to this."""


def places(capsules: np.ndarray) -> np.ndarray:
    """A t-SNE map of vectors [n, f] as whole numbers [n, 2]."""
    points = plane(capsules)
    points = points - points.min(axis=0, initial=np.inf)
    found: np.ndarray = (points / points.max(initial=1e-12) * WIDTH).round().astype(int)
    return found
