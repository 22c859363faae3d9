"""Probabilities from shares of capsule lengths, by one number that is fitted to nodes set aside."""

import numpy as np
from scipy.optimize import minimize_scalar

_COLDEST, _HOTTEST = np.log(1e-3), np.log(1e3)


def heat(shares: np.ndarray, temperature: float) -> np.ndarray:
    """Shares to the power 1 / temperature, divided by their sum [N, C]: below 1 surer, above 1 less sure."""
    scaled = np.log(np.maximum(shares.astype(np.float64), np.finfo(np.float32).tiny)) / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    out: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    return out


def fit_temperature(shares: np.ndarray, y: np.ndarray) -> float:
    """The temperature at which the labels ``y`` are most likely."""
    found = minimize_scalar(
        lambda logarithm: smoothed_loss(heat(shares, np.exp(logarithm)), y),
        bounds=(_COLDEST, _HOTTEST),
        method="bounded",
    )
    return float(np.exp(found.x))


def smoothed_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Mean negative log-likelihood of labels of which a share 1 / (n + 2) is taken to be wrong, as Platt does.

    Without it, n nodes that are all right would make every probability 1, which n nodes cannot show.
    """
    logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    own = np.take_along_axis(logs, y[:, None], axis=1)[:, 0]
    others = (logs.sum(axis=1) - own) / max(1, logs.shape[1] - 1)
    wrong = 1 / (len(y) + 2)
    return float(-((1 - wrong) * own + wrong * others).mean())
