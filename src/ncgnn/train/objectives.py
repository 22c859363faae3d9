"""What training minimises."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.nn import margin_loss
from ncgnn.train.epoch import accuracy

Forward = Callable[[], Tensor]
"""Class scores of all nodes [N, C]. In training each call draws dropout again."""


class Objective(ABC):
    """A loss on the training nodes, and the same on the validation nodes.

    An objective with a rule of its own overrides :meth:`loss`; it may call ``forward`` more than once.
    """

    @abstractmethod
    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        """The loss of scores [n, C] for the classes ``y`` [n]."""

    def loss(self, forward: Forward, split: Data) -> Tensor:
        """What a training step minimises."""
        return self.of(forward()[split.train_mask], split.y[split.train_mask])

    def validate(self, forward: Forward, split: Data) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes."""
        scores = forward()
        loss = self.of(scores[split.val_mask], split.y[split.val_mask]).item()
        return loss, accuracy(scores, split.y, split.val_mask)


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
