"""Training again towards what finished models say about all nodes, labelled or not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.calibration.calibration import fit_temperature, heat
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import Extension, Forward, Stage


@dataclass(frozen=True)
class Taught(Extension):
    """An objective on the training nodes and, towards soft targets [N, C], on all nodes."""

    targets: Tensor

    def nodes(self, split: Data) -> Tensor:
        return torch.ones_like(split.train_mask)

    def loss(self, forward: Forward, inputs: Inputs, split: Data) -> Tensor:
        scores, train = forward(inputs), split.train_mask
        targets = self.targets.to(scores.device)
        targets = targets if "n_id" not in split else targets[split.n_id]  # those of a batch
        known = self.of(scores[train], split.y[train]) if train.any() else scores.new_zeros(())
        return known + self.base.towards(scores, targets)  # in this order, so that stored results repeat exactly


def taught(how: Training, targets: Tensor | None) -> Training:
    """A training that also learns from soft targets [N, C], if there are any."""
    return how if targets is None else replace(how, objective=Taught(how.objective, targets))


@dataclass(frozen=True)
class SelfTaught(Extension):
    """Trains twice: the second time, from the start, towards the first model's predictions."""

    def next_stage(self, scores: Callable[[], Tensor], inputs: Inputs, split: Data) -> Stage | None:
        return Stage(inputs, split, Taught(self.base, soft_targets([self.shares(scores())], split)))


def soft_targets(teachers: Sequence[Tensor], split: Data) -> Tensor:
    """Targets for all nodes from the normalised scores [N, C] of one or several models: each temperature-scaled on the
    validation nodes, then their mean, squared and normalised again."""
    val, y = split.val_mask.cpu().numpy(), split.y.cpu().numpy()
    found = [shares.detach().cpu().double().numpy() for shares in teachers]
    heated = [heat(shares, fit_temperature(shares[val], y[val])) for shares in found]
    return torch.from_numpy(heat(np.mean(heated, axis=0), 0.5)).to(teachers[0])  # half the temperature squares
