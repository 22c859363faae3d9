"""Training in which all classes count the same, however many nodes they have."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ncgnn.train.epoch import accuracy
from ncgnn.train.objectives import Objective


@dataclass(frozen=True)
class Balanced(Objective):
    """An objective averaged over classes, which weights a node by the inverse size of its class; epochs are compared by
    mean recall instead of accuracy."""

    base: Objective

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        losses = [self.base.of(scores[y == one], y[y == one]) for one in y.unique()]
        return torch.stack(losses).mean()

    def towards(self, scores: Tensor, q: Tensor) -> Tensor:
        return self.base.towards(scores, q)

    def shares(self, scores: Tensor) -> Tensor:
        return self.base.shares(scores)

    def quality(self, scores: Tensor, y: Tensor, mask: Tensor) -> float:
        recalls = [accuracy(scores, y, mask & (y == one)) for one in y[mask].unique()]
        return sum(recalls) / len(recalls) if recalls else float("nan")


def balanced(objective: Objective) -> Objective:
    """The objective with balanced classes; where it wraps another as ``base``, that one is balanced."""
    inner: Any = getattr(objective, "base", None)
    return Balanced(objective) if inner is None else replace(objective, base=balanced(inner))  # type: ignore[type-var]
