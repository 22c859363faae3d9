"""Training again towards what a finished model says about all nodes, labelled or not."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.calibration.calibration import fit_temperature, heat
from ncgnn.nn import proportions, soft_margin_loss
from ncgnn.train.inputs import Inputs
from ncgnn.train.objectives import Forward, Margin, Stage


@dataclass(frozen=True)
class SoftMargin(Margin):
    """The margin loss on the training nodes and, towards soft targets [N, C], on all nodes."""

    targets: Tensor

    def loss(self, forward: Forward, inputs: Inputs, split: Data) -> Tensor:
        scores = forward(inputs)
        known = self.of(scores[split.train_mask], split.y[split.train_mask])
        return known + soft_margin_loss(scores, self.targets, self.m_plus, self.m_minus, self.lam)


class SelfTaught(Margin):
    """Trains twice: the second time, from the start, towards the first model's predictions."""

    def next_stage(self, scores: Callable[[], Tensor], inputs: Inputs, split: Data) -> Stage | None:
        targets = soft_targets(proportions(scores()), split)
        return Stage(inputs, split, SoftMargin(self.m_plus, self.m_minus, self.lam, targets))


def soft_targets(shares: Tensor, split: Data) -> Tensor:
    """Targets for all nodes from a model's normalised scores [N, C]: temperature-scaled on the validation nodes,
    squared, and normalised again."""
    val = split.val_mask.cpu().numpy()
    found = shares.detach().cpu().double().numpy()
    q = heat(found, fit_temperature(found[val], split.y.cpu().numpy()[val]) / 2)  # half the temperature squares
    return torch.from_numpy(q).to(shares)
