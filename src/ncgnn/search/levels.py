"""How much a search tries."""

from dataclasses import dataclass
from typing import Literal

LevelName = Literal["none", "quick", "thorough"]


@dataclass(frozen=True)
class Level:
    """The rounds of a search.

    Attributes:
        epochs: maximum number of epochs of all candidates in the first round, and of the finalists.
        patience: epochs without improvement before a training ends, in both.
        finalists: number of candidates that reach the second round.
        repeats: trainings of each finalist in the second round.
        seeds: further trainings of the winner, to learn from.
    """

    epochs: tuple[int, int]
    patience: tuple[int, int]
    finalists: int
    repeats: int
    seeds: int


LEVELS: dict[str, Level] = {
    "quick": Level((60, 200), (30, 40), finalists=3, repeats=1, seeds=1),
    "thorough": Level((150, 400), (60, 80), finalists=5, repeats=3, seeds=2),
}
