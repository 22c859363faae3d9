"""What a module is trained on."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Inputs:
    """The arguments of a module: ``module(*inputs.arguments)`` gives the class scores of all nodes."""

    arguments: tuple[Any, ...]

    def sample(self, epoch: int) -> "Inputs":
        """What the training step of ``epoch`` sees: everything, unless a subclass draws a part of it."""
        return self
