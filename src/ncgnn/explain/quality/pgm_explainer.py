"""The rule of PGMExplainer (Vu and Thai, 2020): whose absence goes along with a change of the prediction."""

import torch
import torch.nn.functional as F
from scipy.stats import chi2
from torch import Tensor

from ncgnn.explain.presence import Subject
from ncgnn.explain.quality.measures import field
from ncgnn.explain.quality.strengths import placed
from ncgnn.nn import proportions

SAMPLES, DROP = 100, 0.1
"""Random removals, and the drop in probability that counts as a change: as in PyG's implementation."""


@torch.no_grad()
def pgm_explainer(subject: Subject, node: int) -> Tensor:
    """How surely each node depends on this one: minus the logarithm of the p-value of a chi-square test.

    The state of a node is whether it is removed, and whether its probability of the predicted class drops.
    """
    heard, predicted = field(subject, node), subject.predicted[node]
    gone = torch.rand(SAMPLES, len(heard)) < 0.5
    before = subject.probabilities[:, predicted]
    presence = subject.everyone.expand(SAMPLES, -1).clone()
    presence[:, heard] = (~gone).to(presence)
    drops = torch.stack([before - proportions(subject.scores(one))[:, predicted] for one in presence]) > DROP
    states = 2 * gone + drops[:, heard].long()
    own = 2 * (presence[:, node] == 0) + drops[:, node].long()
    found = placed(subject, heard, dependence(states, own))
    found[node] = torch.inf
    return found.clamp(max=1e6)


def dependence(states: Tensor, own: Tensor) -> Tensor:
    """Minus the logarithm of the p-value of independence, of each column of states from 0 to 3 [samples, n] and one
    more [samples]."""
    counts = torch.einsum("snp,sq->npq", F.one_hot(states, 4).double(), F.one_hot(own, 4).double())
    rows, columns = counts.sum(dim=2, keepdim=True), counts.sum(dim=1, keepdim=True)
    expected = rows * columns / len(own)
    statistic = ((counts - expected) ** 2 / expected).nan_to_num().sum(dim=(1, 2))
    freedom = ((rows > 0).sum(dim=(1, 2)) - 1) * ((columns > 0).sum(dim=(1, 2)) - 1)
    return -torch.from_numpy(chi2.logsf(statistic.numpy(), freedom.clamp(min=1).numpy()))
