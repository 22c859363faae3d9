"""Inputs of a module."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Inputs:
    """The arguments of a module: ``module(*inputs.arguments)`` gives the class scores of all nodes."""

    arguments: tuple[Any, ...]

    def sample(self, epoch: int) -> "Inputs":
        """The inputs for the training step of ``epoch``: everything, unless a subclass samples."""
        return self
