"""Calibration error of probabilities."""

from dataclasses import dataclass

import numpy as np

BINS = 15


@dataclass(frozen=True)
class Bin:
    """Predictions with similar probability: count, mean probability, and accuracy."""

    count: int
    probability: float
    right: float


def reliability(sure: np.ndarray, right: np.ndarray, bins: int = BINS) -> list[Bin]:
    """Nonempty bins of equal width by probability of the predicted class."""
    number = np.clip(np.ceil(sure * bins).astype(int) - 1, 0, bins - 1)
    members = [number == place for place in np.unique(number)]
    return [Bin(int(m.sum()), float(sure[m].mean()), float(right[m].mean())) for m in members]


def calibration_error(probabilities: np.ndarray, y: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error (Guo et al., 2017): nodes are binned by the probability of their predicted class in
    bins of equal width; the error is the mean over nodes of the distance between mean probability and accuracy."""
    return expected_error(reliability(probabilities.max(axis=1), probabilities.argmax(axis=1) == y, bins))


def expected_error(bins: list[Bin]) -> float:
    return sum(bin.count * abs(bin.probability - bin.right) for bin in bins) / sum(bin.count for bin in bins)
