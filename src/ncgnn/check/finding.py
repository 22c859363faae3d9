"""A finding of a check."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["serious", "warning", "note"]
LEVELS: tuple[Level, ...] = ("serious", "warning", "note")
SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """One problem found before training.

    Attributes:
        name: the kind of finding, the same in every graph.
        level: ``serious`` if results will be misleading, ``warning`` if they may be, else ``note``.
        what: what was found.
        count: number of nodes, features or classes concerned.
        first: names of the first of them.
        why: why it matters.
        advice: what to do.
        options: the parameters and settings that the advice refers to.
    """

    name: str
    level: Level
    what: str
    count: int
    first: Sequence[str]
    why: str
    advice: str
    options: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", [str(name) for name in self.first[:SHOWN]])
