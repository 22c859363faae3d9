"""H2GCN (Zhu et al., 2020): a node's own features, its neighbours and its neighbours' neighbours kept apart."""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.memory import check_memory
from ncgnn.models.base.layers import dropout, linear
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.sparse import CSR, LinearOperator, normalize
from ncgnn.text import several
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


_PAIR = 48  # bytes at the peak: four matrices with a column and a value


class H2GCNSettings(TrainingSettings):
    """The settings of H2GCN, by default those of its authors, whose Keras counts the penalty twice: its 5e-4 is a
    weight decay of 1e-3. Of their grid (ReLU or not, dropout 0 or 0.5, weight decay 1e-3 or 2e-5) this is one point."""

    rounds: int = Field(2, ge=1, le=4, description="rounds of aggregation, K")
    width: int = Field(64, ge=1, le=4096, description="size of the embedding of features")
    relu: bool = Field(True, description="ReLU on the embedding of features")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of the last layer")
    weight_decay: float = Field(1e-3, ge=0, le=100, description="weight decay")
    epochs: int = Field(2000, ge=1, description="maximum number of epochs")


class H2GCN(nn.Module):
    r""":math:`\mathbf{R}_0 = \sigma(\mathbf{X} \mathbf{W}_e)`, :math:`\mathbf{R}_k = [\bar{\mathbf{A}}_1
    \mathbf{R}_{k-1}, \bar{\mathbf{A}}_2 \mathbf{R}_{k-1}]` and :math:`\mathbf{Y} = [\mathbf{R}_0, \dots, \mathbf{R}_K]
    \mathbf{W}_c`.

    :math:`\mathbf{A}_1` are neighbours, :math:`\mathbf{A}_2` nodes at a distance of exactly two, both without
    self-loops and normalised by their own degrees. There is no non-linearity between rounds, and there are no biases.
    """

    def __init__(self, in_channels: int, out_channels: int, settings: H2GCNSettings) -> None:
        super().__init__()
        self.embed = nn.Linear(in_channels, settings.width, bias=False)
        self.last = nn.Linear(settings.width * (2 ** (settings.rounds + 1) - 1), out_channels, bias=False)
        self.rounds, self.relu, self.dropout = settings.rounds, settings.relu, settings.dropout

    def forward(self, x: LinearOperator, near: CSR, far: CSR) -> Tensor:
        r = linear(x, self.embed)
        found = [r.relu() if self.relu else r]
        for _ in range(self.rounds):
            found.append(torch.cat([near @ found[-1], far @ found[-1]], dim=1))
        out: Tensor = self.last(dropout(torch.cat(found, dim=1), self.dropout, self.training))
        return out


class H2GCNModel(Model[H2GCNSettings]):
    """Variants with one and two rounds. Edges without their weights."""

    name, title, settings_class = "h2gcn", "H2GCN", H2GCNSettings
    variants = ("2", "1")

    def prepare(self, graph: PreparedGraph, settings: H2GCNSettings) -> Inputs:
        near, far = graph.of_edges("rings", rings)
        return Inputs((graph.features(settings.normalize_features), near, far))

    def build(self, sizes: Sizes, settings: H2GCNSettings) -> H2GCN:
        return H2GCN(sizes.features, sizes.classes, settings)

    def of_variant(self, variant: str) -> dict[str, Any]:
        return {"rounds": int(variant)} if variant else {}

    def candidates(self) -> list[H2GCNSettings]:
        """One and two rounds, without dropout, and with unchanged features."""
        raw = {"normalize_features": False}
        weak = {"dropout": 0.0, "weight_decay": 2e-5}
        return [H2GCNSettings.make(values) for values in ({}, {"rounds": 1}, weak, raw)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {"relu": trial.suggest_categorical("relu", (False, True))}

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "relu"}
        return [self.published(graph).model_dump(include=names)]


def rings(data: Data) -> tuple[CSR, CSR]:
    r""":math:`\bar{\mathbf{A}}_1` and :math:`\bar{\mathbf{A}}_2`: nodes at a distance of one, and of exactly two."""
    one = sp.csr_matrix(plain_adjacency(data) != 0, dtype=float)
    nodes, paths = one.shape[0], np.square(np.diff(one.indptr), dtype=float).sum()
    what = f"the pairs at a distance of two among {several(nodes, 'node')}"
    check_memory(_PAIR * min(paths, float(nodes) ** 2), what, "take another model", "model")
    within = sp.csr_matrix((one @ one + one + sp.eye_array(one.shape[0])) != 0, dtype=float)
    two = within - one - sp.eye_array(one.shape[0])
    two.eliminate_zeros()
    near, far = (CSR.from_scipy(normalize(sp.csr_matrix(ring)), torch.get_default_dtype()) for ring in (one, two))
    return near, far


MODEL = H2GCNModel()
