"""Temperature scaling of normalised capsule lengths, fitted on held-out nodes."""

import numpy as np
from scipy.optimize import minimize_scalar

_COLDEST, _HOTTEST = np.log(1e-3), np.log(1e3)


def heat(shares: np.ndarray, temperature: float) -> np.ndarray:
    """Normalised values to the power 1 / temperature [N, C]; temperatures below 1 increase confidence."""
    scaled = np.log(np.maximum(shares.astype(np.float64), np.finfo(np.float32).tiny)) / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    out: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    return out


def fit_temperature(shares: np.ndarray, y: np.ndarray) -> float:
    """The temperature that maximises the likelihood of the labels ``y``."""
    found = minimize_scalar(
        lambda logarithm: smoothed_loss(heat(shares, np.exp(logarithm)), y),
        bounds=(_COLDEST, _HOTTEST),
        method="bounded",
    )
    return float(np.exp(found.x))


def smoothed_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Mean negative log-likelihood with smoothed labels, 1 / (n + 2) of which count as wrong, as in Platt scaling.

    Without smoothing, n correct nodes would give probabilities of 1, which n nodes cannot justify.
    """
    logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    own = np.take_along_axis(logs, y[:, None], axis=1)[:, 0]
    others = (logs.sum(axis=1) - own) / max(1, logs.shape[1] - 1)
    wrong = 1 / (len(y) + 2)
    return float(-((1 - wrong) * own + wrong * others).mean())
