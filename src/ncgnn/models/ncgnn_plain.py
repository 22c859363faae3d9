"""NCGNN in plain PyTorch operations: the baseline for the fused kernels."""

from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ncgnn.errors import InputError
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.ncgnn import MODEL as FUSED
from ncgnn.models.ncgnn.config import Config
from ncgnn.nn import NCGNN, PreparedFilter, proportions, route
from ncgnn.nn.routing import CapsuleGraphLayer
from ncgnn.sparse import CSR
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training


class PlainNCGNN(nn.Module):
    """The same weights and results as the model, in plain operations; features may be sparse or dense."""

    def __init__(self, model: NCGNN) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, prepared: PreparedFilter) -> Tensor:
        primary, layer = self.model.primary, self.model.layers[0]
        assert isinstance(layer, CapsuleGraphLayer)
        assert len(self.model.layers) == 1
        wx = (x @ primary.weight.flatten(0, 1).t()).unflatten(1, (primary.num_capsules, primary.channels))
        h = F.dropout(F.normalize(F.relu(wx + primary.bias), dim=-1), primary.dropout, self.training)  # eq. 3
        votes = torch.einsum("nkp,kpcf->nkcf", h, layer.weight)
        routing = route(votes, self._filter(prepared), layer.bias, layer.iterations, layer.beta)  # type: ignore[arg-type]
        lengths: Tensor = torch.linalg.vector_norm(routing.capsules, dim=-1)
        return lengths

    def _filter(self, prepared: PreparedFilter) -> "_Hops":
        assert prepared.is_implicit
        assert isinstance(prepared.matrix, CSR)
        return _Hops(prepared.matrix.to_torch(), self.model.filter.coefficients())


@dataclass(frozen=True)
class _Hops:
    """Equation 4, hop by hop."""

    a: Tensor
    xi: Tensor

    def __matmul__(self, p: Tensor) -> Tensor:
        out = self.xi[0] * p
        for xi in self.xi[1:]:
            p = self.a @ p
            out = out + xi * p
        return out


class PlainModel(Model[Config]):
    """For filters that are sums over hops, without sparsification."""

    name, title, settings_class = "ncgnn-plain", "NCGNN, plain", Config
    measured = 2

    def prepare(self, graph: PreparedGraph, settings: Config) -> Inputs:
        filter = settings.make_filter()
        further = settings.hidden or settings.early_dropout or settings.feature_dropout
        if further or filter.sparsify is not None or filter.hop_weights() is None:
            raise InputError(
                f"{self.title} takes a filter that is a plain sum over hops, no hidden layers, and the paper's dropout"
            )
        return Inputs((graph.x(settings.normalize_features), graph.filter(filter)))

    def build(self, sizes: Sizes, settings: Config) -> PlainNCGNN:
        return PlainNCGNN(settings.make_model(sizes.features, sizes.classes))

    def training(self, module: nn.Module, settings: Config) -> Training:
        return FUSED.training(cast(PlainNCGNN, module).model, settings)

    def probabilities(self, scores: Tensor) -> Tensor:
        return proportions(scores)


MODEL = PlainModel()
