"""Calibration fitted on held-out nodes and stored in the model file."""

from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ncgnn.calibration.conformal import class_sets, nonconformity
from ncgnn.calibration.temperature import fit_temperature, heat
from ncgnn.data.splits import FEWEST_ASIDE
from ncgnn.errors import InputError


class Calibration(BaseModel):
    """Converts normalised capsule lengths to probabilities and prediction sets.

    Conformal scores are computed from the normalised lengths, not from the probabilities, so the sets do not depend on
    the temperature, which is fitted on the same nodes, and their coverage holds.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    temperature: Annotated[float, Field(gt=0)]
    scores: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=FEWEST_ASIDE)]

    @classmethod
    def fit(cls, shares: np.ndarray, y: np.ndarray) -> "Calibration":
        """Fit on the normalised lengths [n, C] and labels [n] of nodes used neither for training nor validation."""
        if len(y) < FEWEST_ASIDE:
            raise InputError(
                f"calibration needs at least {FEWEST_ASIDE} held-out nodes, but there are {len(y)}:"
                " label more, or train without"
            )
        scores = np.sort(nonconformity(shares, y)).clip(0, 1)
        return cls(temperature=fit_temperature(shares, y), scores=scores.astype(float).tolist())

    def probabilities(self, shares: np.ndarray) -> np.ndarray:
        """Probability of each class [N, C]."""
        return heat(shares, self.temperature)

    def sets(self, shares: np.ndarray, coverage: float) -> np.ndarray:
        """Prediction sets [N, C] that contain the correct class for a fraction ``coverage`` of new nodes."""
        return class_sets(shares, np.array(self.scores, dtype=shares.dtype), coverage)
