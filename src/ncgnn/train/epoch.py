"""Results of an epoch."""

from math import isfinite
from typing import NamedTuple

from torch import Tensor

from ncgnn.errors import InputError


class Epoch(NamedTuple):
    """One row of ``history.csv``."""

    epoch: int
    train_loss: float
    val_loss: float
    val_accuracy: float

    @property
    def rank(self) -> tuple[float, float]:
        """Key for comparing epochs: higher accuracy is better, then lower loss."""
        return self.val_accuracy, -self.val_loss

    @property
    def is_finite(self) -> bool:
        return isfinite(self.train_loss) and isfinite(self.val_loss)


class Diverged(InputError):
    """Training diverged."""


def accuracy(scores: Tensor, y: Tensor, mask: Tensor) -> float:
    """Fraction of nodes in ``mask`` that are predicted correctly; NaN for an empty mask."""
    return (scores[mask].argmax(dim=1) == y[mask]).float().mean().item()
