"""Contributions of features through the first layer, with its gates and norms held fixed."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ncgnn.explain.contributions import rows
from ncgnn.explain.targets import Targets
from ncgnn.explain.trace import Trace
from ncgnn.sparse import Dense, LinearOperator


@dataclass(frozen=True, eq=False)
class OneTarget:
    """Contributions to one score: of each feature [f], summed over nodes, and of the first layer's bias. With the class
    bias, they add up to the score."""

    features: Tensor
    bias: Tensor
    weights: Tensor  # m_jk, the weight of each capsule entry before its gate [N, K f_p]


class FeatureShares:
    r"""Attributes scores to features. A primary capsule is linear in the features if the gate of its ReLU and its norm
    are held fixed: :math:`\mathbf{h}_j^{(k)} = \mathbf{g}_{jk} \circ (\dot{\mathbf{W}}_k \mathbf{x}_j +
    \dot{\mathbf{b}}_k)`."""

    @torch.no_grad()
    def __init__(self, trace: Trace) -> None:
        primary = trace.model.primary
        self.trace = trace
        self.w_dot = primary.weight.detach().flatten(0, 1).t()  # [f, K f_p]
        z = (trace.x.product(self.w_dot.contiguous()).view(-1, *primary.bias.shape)) + primary.bias
        norm = torch.linalg.vector_norm(F.relu(z), dim=-1, keepdim=True)
        self.gates = (z > 0) / norm.clamp(min=1e-12)

    @torch.no_grad()
    def __call__(self, target: Targets) -> OneTarget:
        """Contributions for a single target."""
        m = self._weights(target)
        features = (self.w_dot * self.trace.x.gradients(m, m, False)[1]).sum(dim=1)
        bias = self.trace.model.primary.bias.detach().flatten() @ m.sum(dim=0)
        return OneTarget(features, bias, m)

    def _weights(self, target: Targets) -> Tensor:
        r""":math:`\mathbf{m}_{jk} = \bar{a}_{ij} \mathbf{g}_{jk} \circ \sum_l c_{jkl} \mathbf{W}_{kl}^\top
        \mathbf{d}_{il}`."""
        classes, direction = target.classes[0], target.direction[0]
        weight = self.trace.layer.weight.detach()[:, :, classes]
        asked = torch.einsum("kqlf,lf->klq", weight, direction)
        c = self.trace.routing.couplings[:, :, classes]
        a = rows(self.trace.a_bar, target.nodes)
        m: Tensor = a[:, :, None] * self.gates * torch.einsum("jkl,klq->jkq", c, asked)
        return m.flatten(1)

    @torch.no_grad()
    def of_nodes(self, weights: Tensor, nodes: Tensor) -> Tensor:
        """Contribution of each feature of each of these nodes [n, f]."""
        return (weights[nodes] @ self.w_dot.t()) * feature_rows(self.trace.x, nodes)


def feature_rows(x: LinearOperator, nodes: Tensor) -> Tensor:
    """Features of some nodes [n, f], dense."""
    return x.matrix[nodes] if isinstance(x, Dense) else rows(x, nodes).t()
