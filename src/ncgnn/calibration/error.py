"""How far probabilities are from what they promise."""

import numpy as np


def calibration_error(probabilities: np.ndarray, y: np.ndarray, bins: int = 15) -> float:
    """Expected calibration error (Guo et al., 2017): nodes are put into bins of equal width by the probability of
    their predicted class; the mean over nodes of the distance between a bin's mean probability and its accuracy."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    number = np.clip(np.ceil(sure * bins).astype(int) - 1, 0, bins - 1)
    gaps = np.bincount(number, weights=sure - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(y))
