"""DropEdge (Rong et al., 2020): a GCN trained on a random part of the edges, another one in each epoch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field

from ncgnn.models.base.layers import LayerStack
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings, stepped
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class DropEdgeSettings(TrainingSettings):
    """The settings of DropEdge, by default those of its authors on Cora."""

    layers: int = Field(2, ge=1, le=64, description="number of layers, the last one linear")
    width: int = Field(128, ge=1, le=4096, description="size of all layers but the last")
    dropped: float = Field(0.6, ge=0, lt=1, description="share of edges dropped in each epoch, p")
    dropout: float = Field(0.8, ge=0, lt=1, description="dropout rate on the input of each layer")
    lr: float = Field(0.007, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(1e-5, ge=0, le=100, description="weight decay")
    epochs: int = Field(400, ge=1, description="maximum number of epochs")


@dataclass(frozen=True)
class DroppedEdges(Inputs):
    r"""Features and adjacency; each training step keeps a random part of the entries of :math:`\mathbf{A}`, apart from
    self-loops, and normalises again: :math:`\mathbf{D}'^{-1/2} (\mathbf{A}' + \mathbf{I}) \mathbf{D}'^{-1/2}`.

    Attributes:
        entries: the matrix with self-loops, not normalised.
        rate: the share of edges to drop.
    """

    entries: CSR
    rate: float

    def sample(self, epoch: int) -> Inputs:
        x, _ = self.arguments
        pattern, values = self.entries.pattern, self.entries.values
        rows = torch.repeat_interleave(pattern.indptr.diff())
        columns = pattern.indices.long()
        kept = values * ((torch.rand_like(values) >= self.rate) | (rows == columns))
        scale = values.new_zeros(pattern.num_rows).index_add(0, rows, kept).rsqrt()
        return Inputs((x, CSR(pattern, scale[rows] * kept * scale[columns])))


class DropEdgeModel(Model[DropEdgeSettings]):
    r"""A GCN on the normalised :math:`\mathbf{A}'`, whose entries are dropped one direction at a time, as in the
    authors' code. Validation and prediction use all edges."""

    name, title, settings_class = "dropedge", "DropEdge", DropEdgeSettings
    depth = "layers"

    def prepare(self, graph: PreparedGraph, settings: DropEdgeSettings) -> DroppedEdges:
        features: LinearOperator = graph.features(settings.normalize_features)
        entries = graph.of_edges("with self-loops", lambda data: with_loops(plain_adjacency(data)))
        return DroppedEdges((features, graph.adjacency), entries, settings.dropped)

    def build(self, sizes: Sizes, settings: DropEdgeSettings) -> LayerStack:
        return LayerStack(sizes.features, sizes.classes, settings.layers, settings.width, settings.dropout)

    def candidates(self) -> list[DropEdgeSettings]:
        """The published settings, unchanged features, and less regularisation of both."""
        weak, raw = {"dropout": 0.5, "dropped": 0.3}, {"normalize_features": False}
        return [DropEdgeSettings.make(values) for values in ({}, weak, raw, raw | weak)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "layers": trial.suggest_int("layers", 2, 3),
            "dropped": stepped(trial, "dropped", 0.1, 0.9, 0.1),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "layers", "dropped"}
        return [self.published(graph).model_dump(include=names)]


def with_loops(a: sp.csr_array) -> CSR:
    r""":math:`\mathbf{A} + \mathbf{I}`, not normalised."""
    return CSR.from_scipy(sp.csr_matrix(a + sp.eye_array(a.shape[0], dtype=np.float64)), torch.get_default_dtype())


MODEL = DropEdgeModel()
