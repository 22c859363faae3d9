"""Training objectives."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.nn import margin_loss, proportions, soft_margin_loss
from ncgnn.train.epoch import accuracy
from ncgnn.train.inputs import Inputs

Forward = Callable[[Inputs], Tensor]
"""Class scores of the nodes of the split [N, C]. In training, each call draws a new dropout mask."""


class Stage(NamedTuple):
    """A further training from the start: with other inputs, other labels and masks, or another objective."""

    inputs: Inputs
    split: Data
    objective: "Objective | None" = None


class Objective(ABC):
    """A loss on the training nodes, and the same on the validation nodes.

    A custom objective overrides :meth:`loss`; it may call ``forward`` more than once and on other inputs. One that adds
    to another objective is an :class:`Extension`. An objective with several stages overrides :meth:`next_stage`.
    """

    @abstractmethod
    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        """The loss of scores [n, C] for the classes ``y`` [n]."""

    def nodes(self, split: Data) -> Tensor:
        """The nodes (a mask) whose scores :meth:`loss` reads; in batches, others are not computed."""
        mask: Tensor = split.train_mask
        return mask

    def towards(self, scores: Tensor, q: Tensor) -> Tensor:
        """The loss of scores [n, C] for soft targets ``q`` [n, C], how much a node belongs to each class."""
        raise InputError(f"{type(self).__name__} has no loss for soft targets: define towards()")

    def shares(self, scores: Tensor) -> Tensor:
        """Scores normalised to sum to one."""
        return scores.softmax(dim=-1)

    def loss(self, forward: Forward, inputs: Inputs, split: Data) -> Tensor:
        """The loss of a training step."""
        return self.of(forward(inputs)[split.train_mask], split.y[split.train_mask])

    def validate(self, forward: Forward, inputs: Inputs, split: Data) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes."""
        scores = forward(inputs)
        loss = self.of(scores[split.val_mask], split.y[split.val_mask]).item()
        return loss, self.quality(scores, split.y, split.val_mask)

    def quality(self, scores: Tensor, y: Tensor, mask: Tensor) -> float:
        """How good the scores of the nodes in ``mask`` are, for comparing epochs: accuracy."""
        return accuracy(scores, y, mask)

    def next_stage(self, scores: Callable[[], Tensor], inputs: Inputs, split: Data) -> Stage | None:
        """The next stage, trained from scratch; None to stop. ``scores`` are those of the model just trained."""
        return None


@dataclass(frozen=True)
class Extension(Objective):
    """An objective that adds to another one, ``base``."""

    base: Objective

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        return self.base.of(scores, y)

    def towards(self, scores: Tensor, q: Tensor) -> Tensor:
        return self.base.towards(scores, q)

    def shares(self, scores: Tensor) -> Tensor:
        return self.base.shares(scores)

    def quality(self, scores: Tensor, y: Tensor, mask: Tensor) -> float:
        return self.base.quality(scores, y, mask)


@dataclass(frozen=True)
class Margin(Objective):
    """The separate margin loss (equation 11)."""

    m_plus: float
    m_minus: float
    lam: float

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        return margin_loss(scores, y, self.m_plus, self.m_minus, self.lam)

    def towards(self, scores: Tensor, q: Tensor) -> Tensor:
        return soft_margin_loss(scores, q, self.m_plus, self.m_minus, self.lam)

    def shares(self, scores: Tensor) -> Tensor:
        return proportions(scores)


class CrossEntropy(Objective):
    """Cross-entropy of the softmax of the scores."""

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(scores, y)

    def towards(self, scores: Tensor, q: Tensor) -> Tensor:
        return F.cross_entropy(scores, q)
