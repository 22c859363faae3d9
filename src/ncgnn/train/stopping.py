"""Early stopping: which weights to keep, and when to stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from ncgnn.train.epoch import Epoch


class Stopping(Protocol):
    """A stopping rule; it only sees validation results."""

    def keeps(self, epoch: Epoch, best: Epoch) -> bool:
        """Whether the weights of ``epoch`` replace those of the best epoch so far."""

    def is_over(self, history: Sequence[Epoch], best: Epoch) -> bool:
        """Whether training ends after the last epoch of ``history``."""


@dataclass(frozen=True)
class Patience:
    """Keep the best weights; stop after ``epochs`` epochs without a better validation result."""

    epochs: int

    def keeps(self, epoch: Epoch, best: Epoch) -> bool:
        return epoch.rank > best.rank

    def is_over(self, history: Sequence[Epoch], best: Epoch) -> bool:
        return history[-1].epoch - best.epoch >= self.epochs


@dataclass(frozen=True)
class Window:
    """Keep the last weights; stop when the validation loss exceeds its mean over the previous ``epochs`` epochs (Kipf
    and Welling)."""

    epochs: int

    def keeps(self, epoch: Epoch, best: Epoch) -> bool:
        return True

    def is_over(self, history: Sequence[Epoch], best: Epoch) -> bool:
        before = history[-self.epochs - 1 : -1]
        return len(before) == self.epochs and history[-1].val_loss > fmean(epoch.val_loss for epoch in before)


class Never:
    """Keep the last weights after all epochs: for a number of epochs that is already known to be good."""

    def keeps(self, epoch: Epoch, best: Epoch) -> bool:
        return True

    def is_over(self, history: Sequence[Epoch], best: Epoch) -> bool:
        return False
