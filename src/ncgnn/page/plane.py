"""Nodes on a plane, near to each other where their capsules are."""

import numpy as np

WIDTH = 1000
"""Of the plane; places are whole numbers from 0 to this."""


def places(capsules: np.ndarray) -> np.ndarray:
    """A t-SNE map of vectors [n, f] as whole numbers [n, 2]."""
    from sklearn.manifold import TSNE

    if len(capsules) < 4:  # too few for t-SNE to have something to arrange
        return np.array([[WIDTH // 2, WIDTH * (i + 1) // 4] for i in range(len(capsules))]).reshape(-1, 2)
    # the principal components, from which it starts otherwise, need two directions
    start = "pca" if capsules.shape[1] > 1 and np.ptp(capsules, axis=0).any() else "random"
    points = TSNE(perplexity=min(30.0, (len(capsules) - 1) / 3), init=start, random_state=0).fit_transform(capsules)
    points = points - points.min(axis=0)
    found: np.ndarray = (points / max(points.max(), 1e-12) * WIDTH).round().astype(int)
    return found
