"""What training minimises."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.nn import margin_loss
from ncgnn.train.epoch import accuracy
from ncgnn.train.inputs import Inputs

Forward = Callable[[Inputs], Tensor]
"""Class scores of all nodes [N, C]. In training each call draws dropout again."""


class Stage(NamedTuple):
    """What a further training from the start is given: other inputs, or other labels and masks."""

    inputs: Inputs
    split: Data


class Objective(ABC):
    """A loss on the training nodes, and the same on the validation nodes.

    An objective with a rule of its own overrides :meth:`loss`; it may call ``forward`` more than once, and on other
    inputs. One that trains in stages overrides :meth:`next_stage`.
    """

    @abstractmethod
    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        """The loss of scores [n, C] for the classes ``y`` [n]."""

    def loss(self, forward: Forward, inputs: Inputs, split: Data) -> Tensor:
        """What a training step minimises."""
        return self.of(forward(inputs)[split.train_mask], split.y[split.train_mask])

    def validate(self, forward: Forward, inputs: Inputs, split: Data) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes."""
        scores = forward(inputs)
        loss = self.of(scores[split.val_mask], split.y[split.val_mask]).item()
        return loss, accuracy(scores, split.y, split.val_mask)

    def next_stage(self, scores: Callable[[], Tensor], inputs: Inputs, split: Data) -> Stage | None:
        """What to train on next, from the start; None to end. ``scores`` are those of the model just trained."""
        return None


@dataclass(frozen=True)
class Margin(Objective):
    """The separate margin loss (equation 11)."""

    m_plus: float
    m_minus: float
    lam: float

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        return margin_loss(scores, y, self.m_plus, self.m_minus, self.lam)


class CrossEntropy(Objective):
    """Cross-entropy of the softmax of the scores."""

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(scores, y)
