"""Vectors on a plane, near to each other where they are alike."""

import numpy as np


def plane(vectors: np.ndarray) -> np.ndarray:
    """A t-SNE map [n, 2] of vectors [n, f]; too few to be arranged are put in a row."""
    from sklearn.manifold import TSNE

    if len(vectors) < 4:
        return np.column_stack([np.zeros(len(vectors)), np.arange(len(vectors))])
    # the principal components, from which it starts otherwise, need two directions
    start = "pca" if vectors.shape[1] > 1 and np.ptp(vectors, axis=0).any() else "random"
    map = TSNE(perplexity=min(30.0, (len(vectors) - 1) / 3), init=start, random_state=0)
    points: np.ndarray = map.fit_transform(vectors)
    return points
