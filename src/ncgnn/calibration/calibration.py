"""What is learnt from nodes set aside, and kept in the model file."""

from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ncgnn.calibration.conformal import class_sets, nonconformity
from ncgnn.calibration.temperature import fit_temperature, heat
from ncgnn.data.splits import FEWEST_ASIDE
from ncgnn.errors import InputError


class Calibration(BaseModel):
    """Turns shares of capsule lengths into probabilities and into sets of classes.

    The scores are of the shares as they are, not of the probabilities: so the temperature, which was fitted to the
    same nodes, has no say in the sets, and their coverage holds.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    temperature: Annotated[float, Field(gt=0)]
    scores: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=FEWEST_ASIDE)]

    @classmethod
    def fit(cls, shares: np.ndarray, y: np.ndarray) -> "Calibration":
        """From the shares [n, C] and labels [n] of nodes that neither trained nor validated."""
        if len(y) < FEWEST_ASIDE:
            raise InputError(
                f"calibration needs {FEWEST_ASIDE} nodes that neither train nor validate, and there are {len(y)}:"
                " label more, or train without"
            )
        scores = np.sort(nonconformity(shares, y)).clip(0, 1)
        return cls(temperature=fit_temperature(shares, y), scores=scores.astype(float).tolist())

    def probabilities(self, shares: np.ndarray) -> np.ndarray:
        """Probability of each class [N, C]."""
        return heat(shares, self.temperature)

    def sets(self, shares: np.ndarray, coverage: float) -> np.ndarray:
        """Which classes belong to each node's set [N, C]: the right one does for a share ``coverage`` of new nodes."""
        return class_sets(shares, np.array(self.scores, dtype=shares.dtype), coverage)
