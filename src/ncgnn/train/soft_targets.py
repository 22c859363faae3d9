"""Training again towards what a finished model says about all nodes, labelled or not."""

from collections.abc import Callable
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.calibration.calibration import fit_temperature, heat
from ncgnn.nn import proportions, soft_margin_loss
from ncgnn.train.inputs import Inputs
from ncgnn.train.objectives import Forward, Margin, Stage


class SoftMargin(Margin):
    """The margin loss on the training nodes and, where ``split.soft_targets`` [N, C] are given, on all nodes."""

    def loss(self, forward: Forward, inputs: Inputs, split: Data) -> Tensor:
        scores = forward(inputs)
        known = self.of(scores[split.train_mask], split.y[split.train_mask])
        if split.get("soft_targets") is None:
            return known
        return known + soft_margin_loss(scores, split.soft_targets, self.m_plus, self.m_minus, self.lam)


class SelfTaught(SoftMargin):
    """Trains twice: the second time, from the start, towards the first model's predictions."""

    def next_stage(self, scores: Callable[[], Tensor], inputs: Inputs, split: Data) -> Stage | None:
        if split.get("soft_targets") is not None:
            return None
        return Stage(inputs, with_soft_targets(split, proportions(scores())))


def with_soft_targets(split: Data, shares: Tensor) -> Data:
    """The graph with targets for all nodes, made from a model's normalised scores [N, C]: temperature-scaled on the
    validation nodes, squared, and normalised again."""
    val = split.val_mask.cpu().numpy()
    found = shares.detach().cpu().double().numpy()
    q = heat(found, fit_temperature(found[val], split.y.cpu().numpy()[val]) / 2)  # half the temperature squares
    out = copy(split)
    out.soft_targets = torch.from_numpy(q).to(shares)
    return out
