"""NCGNN with parts changed that no setting changes, to measure what they are worth."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor, nn

from ncgnn.models.base.model import Sizes
from ncgnn.models.ncgnn import MODEL, Config, NCGNNModel
from ncgnn.nn import NCGNN, Routing
from ncgnn.nn.routing import CapsuleGraphLayer, Couplings, Filters, squash
from ncgnn.train.loop import Training
from ncgnn.train.objectives import Margin

SHARPNESS = 10.0
"""Factor of the lengths, which are below 1, so that their softmax can come close to one class."""


class _Changed(NCGNNModel):
    """With the presets of NCGNN itself."""

    def preset(self, graph: str, variant: str = "") -> Config | None:
        found = MODEL.preset(graph, variant)
        return None if found is None else self.settings_class.make(found.model_dump())


class OverClassesSettings(Config):
    """The settings of NCGNN with couplings over classes."""

    identity: ClassVar[str] = "NCGNN over classes"


class OverClassesLayer(CapsuleGraphLayer):
    """Couplings that sum to one over the classes, as in Sabour et al. (2017): :math:`c_{jkl} =
    \\operatorname{softmax}_l b_{jkl}` instead of equation 12."""

    def route(
        self,
        votes: Tensor,
        a_bar: Filters,
        prior: Tensor | None = None,
        sizes: Sequence[int] | None = None,
        couplings: Couplings | None = None,
        last: Filters | None = None,
    ) -> Routing:
        b = votes.new_zeros(votes.shape[:-1])
        for t in range(self.iterations):
            filters = a_bar if last is None or t < self.iterations - 1 else last
            (filter,) = filters if isinstance(filters, Sequence) else [filters]
            c = b.softmax(dim=2)
            p = (c.unsqueeze(-1) * votes).sum(dim=1)  # eq. 8
            u = self.bias + filter @ p  # eq. 9
            v = squash(u)  # eq. 10
            if t < self.iterations - 1:
                b = b + self.beta * (v.unsqueeze(1) * votes).sum(dim=-1)  # eq. 13
        return Routing(capsules=v, couplings=c, u=u, votes=votes)


class OverClasses(_Changed):
    """A single group of capsules."""

    name, title, settings_class = "ncgnn-over-classes", "NCGNN over classes", OverClassesSettings

    def build(self, sizes: Sizes, settings: Config) -> NCGNN:
        model = super().build(sizes, settings)
        (layer,) = model.capsule_layers
        other = OverClassesLayer(
            *(layer.in_capsules, layer.in_channels, layer.out_capsules, layer.out_channels),
            *(layer.iterations, layer.beta, layer.init),
        )
        model.layers = nn.ModuleList([other])
        return model


class CrossEntropySettings(Config):
    """The settings of NCGNN with cross-entropy."""

    identity: ClassVar[str] = "NCGNN with cross-entropy"


class OfLengths(Margin):
    """Cross-entropy of the softmax of the lengths instead of equation 11."""

    def of(self, scores: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(SHARPNESS * scores, y)


class WithCrossEntropy(_Changed):
    """Trained with cross-entropy."""

    name, title, settings_class = "ncgnn-cross-entropy", "NCGNN with cross-entropy", CrossEntropySettings

    def training(self, module: nn.Module, settings: Config) -> Training:
        objective = OfLengths(settings.m_plus, settings.m_minus, settings.lam)
        return replace(super().training(module, settings), objective=objective)


OVER_CLASSES, WITH_CROSS_ENTROPY = OverClasses(), WithCrossEntropy()
"""Not in the registry: they exist only to be measured."""
