"""How much a search tries."""

from dataclasses import dataclass
from typing import Literal

NEAR = 0.01
"""A model may teach if its validation accuracy is at most this much below the best."""

LevelName = Literal["none", "quick", "thorough"]


@dataclass(frozen=True)
class Round:
    """How long the trainings of a round may take, relative to the number of epochs that the default settings need."""

    epochs: float
    patience: float

    def limits(self, usual: int) -> dict[str, int]:
        """The settings that limit a training."""
        return {"epochs": max(30, round(self.epochs * usual)), "patience": max(15, round(self.patience * usual))}


@dataclass(frozen=True)
class Level:
    """The rounds of a search.

    Attributes:
        brief: all candidates.
        long: the best of them, and all trainings after.
        finalists: number of candidates in the second round.
        repeats: trainings of each finalist in the second round.
        seeds: further trainings of the winner, to learn from.
        of_rivals: number of settings to try of each rival.
    """

    brief: Round
    long: Round
    finalists: int
    repeats: int
    seeds: int
    of_rivals: int


LEVELS: dict[str, Level] = {
    "quick": Level(Round(0.22, 0.12), Round(0.75, 0.15), finalists=3, repeats=1, seeds=1, of_rivals=2),
    "thorough": Level(Round(0.6, 0.3), Round(2.0, 0.5), finalists=5, repeats=3, seeds=2, of_rivals=4),
}
