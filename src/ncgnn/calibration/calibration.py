"""Calibration fitted on held-out nodes and stored in the model file: temperature scaling of normalised capsule lengths,
and prediction sets with a chosen coverage, independent of the quality of the model.

Split conformal prediction (Vovk et al., 2005): if held-out and new nodes are exchangeable, the set of a new node
contains its class with a probability of at least the coverage, and at most 1 / (n + 1) more. With a threshold for each
class, from the held-out nodes of that class (Vovk, 2012), this holds for the nodes of every class.
"""

from math import ceil
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.optimize import minimize_scalar

from ncgnn.data.splits import FEWEST_ASIDE
from ncgnn.errors import InputError

_COLDEST, _HOTTEST = np.log(1e-3), np.log(1e3)


class Calibration(BaseModel):
    """Converts normalised capsule lengths to probabilities and prediction sets.

    Conformal scores are computed from the normalised lengths, not from the probabilities, so the sets do not depend on
    the temperature, which is fitted on the same nodes, and their coverage holds. ``labels`` has the class of each
    score; files of the first release have none.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    temperature: Annotated[float, Field(gt=0)]
    scores: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=FEWEST_ASIDE)]
    labels: list[Annotated[int, Field(ge=0)]] = []

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if self.labels and len(self.labels) != len(self.scores):
            raise ValueError("there must be a label for each score")
        return self

    @classmethod
    def fit(cls, shares: np.ndarray, y: np.ndarray) -> "Calibration":
        """Fit on the normalised lengths [n, C] and labels [n] of nodes used neither for training nor validation."""
        if len(y) < FEWEST_ASIDE:
            raise InputError(
                f"calibration needs at least {FEWEST_ASIDE} held-out nodes, but there are {len(y)}:"
                " label more, or train without"
            )
        scores = nonconformity(shares, y).clip(0, 1)
        order = np.argsort(scores, kind="stable")
        return cls(
            temperature=fit_temperature(shares, y),
            scores=scores[order].astype(float).tolist(),
            labels=y[order].tolist(),
        )

    def probabilities(self, shares: np.ndarray) -> np.ndarray:
        """Probability of each class [N, C]."""
        return heat(shares, self.temperature)

    def sets(self, shares: np.ndarray, coverage: float) -> np.ndarray:
        """Prediction sets [N, C] that contain the correct class for a fraction ``coverage`` of new nodes."""
        return class_sets(shares, np.array(self.scores, dtype=shares.dtype), coverage)

    def sets_by_class(self, shares: np.ndarray, coverage: float) -> np.ndarray:
        """Prediction sets [N, C] that contain the correct class for a fraction ``coverage`` of the new nodes of every
        class. A class with too few held-out nodes for that is in every set."""
        if not self.labels:
            raise InputError("the model file is older than coverage by class: train it again")
        scores, labels = np.array(self.scores, dtype=shares.dtype), np.array(self.labels)
        limits = [limit(scores[labels == one], coverage) for one in range(shares.shape[1])]
        inside: np.ndarray = 1 - shares <= np.array(limits, dtype=shares.dtype)
        return inside

    def classes_without_limit(self, number: int, coverage: float) -> list[int]:
        """Of ``number`` classes, those with too few held-out nodes for :meth:`sets_by_class`."""
        scores, labels = np.array(self.scores), np.array(self.labels)
        return [one for one in range(number) if np.isinf(limit(scores[labels == one], coverage))]


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


def nonconformity(shares: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Conformal score of each node [n]: one minus the value of the correct class."""
    own: np.ndarray = 1 - np.take_along_axis(shares, y[:, None], axis=1)[:, 0]
    return own


def threshold(scores: np.ndarray, coverage: float) -> float:
    """The maximum score of classes in a set, from the ``scores`` of held-out nodes."""
    found = limit(scores, coverage)
    if np.isinf(found):
        needed = ceil(round(coverage / (1 - coverage), 9))
        raise InputError(
            f"a coverage of {coverage} needs at least {needed} held-out nodes, but the model has {len(scores)}:"
            " choose a lower coverage, or train with more validation nodes"
        )
    return found


def limit(scores: np.ndarray, coverage: float) -> float:
    """As :func:`threshold`; infinite, which lets every class in, where there are too few nodes."""
    if not 0 < coverage < 1:
        raise InputError(f"the coverage must be above 0 and below 1, not {coverage}")
    rank = max(1, ceil(round((len(scores) + 1) * coverage, 9)))
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else np.inf


def class_sets(shares: np.ndarray, scores: np.ndarray, coverage: float) -> np.ndarray:
    """Which classes belong to the set of each node [N, C]. A set may be empty: then not even the best class is likely
    enough."""
    inside: np.ndarray = 1 - shares <= threshold(scores, coverage)
    return inside
