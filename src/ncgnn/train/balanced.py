"""Training in which all classes count the same, however many nodes they have."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ncgnn.errors import InputError
from ncgnn.train.epoch import accuracy
from ncgnn.train.objectives import Extension, Objective


@dataclass(frozen=True)
class Balanced(Extension):
    """An objective averaged over classes, which weights a node by the inverse size of its class; epochs are compared by
    mean recall instead of accuracy."""

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        losses = [self.base.of(scores[y == one], y[y == one]) for one in y.unique()]
        return torch.stack(losses).mean()

    def quality(self, scores: Tensor, y: Tensor, mask: Tensor) -> float:
        recalls = [accuracy(scores, y, mask & (y == one)) for one in y[mask].unique()]
        return sum(recalls) / len(recalls) if recalls else float("nan")


def balanced(objective: Objective) -> Objective:
    """The objective with balanced classes; where it extends another one, that one is balanced."""
    if isinstance(objective, Extension):
        return replace(objective, base=balanced(objective.base))
    if type(objective).loss is not Objective.loss:
        name = type(objective).__name__
        raise InputError(f"{name} has a loss of its own, in which classes cannot be balanced", "balance")
    return Balanced(objective)
