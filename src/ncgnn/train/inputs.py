"""Inputs of a module."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data


@dataclass(frozen=True)
class Inputs:
    """The arguments of a module: ``module(*inputs.arguments)`` gives the class scores of all nodes.

    A subclass may give them in parts: several batches per epoch, each with the split of its target nodes.
    """

    arguments: tuple[Any, ...]

    def scores(self, module: nn.Module) -> Tensor:
        """Class scores of the target nodes, by default all [N, C]."""
        scores: Tensor = module(*self.arguments)
        return scores

    def sample(self, epoch: int) -> "Inputs":
        """The inputs for the training step of ``epoch``: everything, unless a subclass samples."""
        return self

    def batches(self, epoch: int, split: Data, nodes: Tensor) -> Iterator[tuple["Inputs", Data]]:
        """The inputs for each training step of an epoch that needs the scores of ``nodes`` (a mask), and their split;
        by default one step on the sample of the epoch."""
        yield self.sample(epoch), split

    def only(self, split: Data, nodes: Tensor) -> tuple["Inputs", Data]:
        """Inputs that give the scores of ``nodes`` (a mask), and their split; by default everything."""
        return self, split

    def state(self, module: nn.Module) -> dict[str, Any]:
        """What the epochs so far have changed here, for a checkpoint; by default nothing."""
        return {}

    def restore(self, module: nn.Module, state: dict[str, Any]) -> None:
        """Continue from what :meth:`state` returned."""
