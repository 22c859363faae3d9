"""How good predictions are: counts of confusions, and whether probabilities keep their word."""

from typing import Any

import numpy as np

BINS = 10


def accuracy(label: np.ndarray, predicted: np.ndarray) -> float:
    return float((label == predicted).mean())


def confusion(label: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """How many nodes of each class (row) are predicted as each class (column)."""
    counts = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(counts, (label, predicted), 1)
    return counts


def reliability(right: np.ndarray, probability: np.ndarray) -> list[dict[str, Any]]:
    """Predictions in bins of equal width by their probability; of each bin that is not empty, how many there are, their
    mean probability and the share that is right."""
    place = np.minimum((probability * BINS).astype(int), BINS - 1)
    return [
        {
            "count": int(members.sum()),
            "probability": float(probability[members].mean()),
            "right": float(right[members].mean()),
        }
        for members in (place == bin for bin in range(BINS))
        if members.any()
    ]


def calibration_error(bins: list[dict[str, Any]]) -> float:
    """The mean distance between probability and share right, over the predictions in all bins."""
    total = sum(bin["count"] for bin in bins)
    return float(sum(bin["count"] * abs(bin["probability"] - bin["right"]) for bin in bins) / total)
