"""Geom-GCN (Pei et al., 2020): neighbours in the graph and in a plane, told apart by direction."""

from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.init import xavier_uniform_
from torch_geometric.data import Data

from ncgnn.models.base.layers import dropout, dropped
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.models.geom_gcn.table import neighbourhoods
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.inputs import Inputs

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

RELATIONS = 9
"""Four directions in the graph, four in the plane, and the node itself."""


class GeomGCNSettings(TrainingSettings):
    """The settings of Geom-GCN, by default those of its authors on Chameleon and Squirrel."""

    embedding: Literal["isomap", "poincare", "struc2vec"] = Field("isomap", description="what places nodes in a plane")
    width: int = Field(48, ge=1, le=1024, description="size of each relation in the first layer")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    lr: float = Field(0.05, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(5e-6, ge=0, le=100, description="weight decay")
    epochs: int = Field(5000, ge=1, description="maximum number of epochs")


class GeomGCN(nn.Module):
    r"""Two layers of :math:`\mathbf{h}_v^{(r)} = \sum_{u \in N_r(v)} (d_u d_v)^{-1/2} \mathbf{W}_r \mathbf{h}_u` over
    nine relations r: four directions in the graph, four in the plane, and the node itself. The first layer concatenates
    the relations and applies ReLU, the second takes their mean. d counts all neighbours, of whichever relation.

    The authors' code lowers the learning rate when validation stagnates; this one does not.
    """

    def __init__(self, in_channels: int, out_channels: int, settings: GeomGCNSettings) -> None:
        super().__init__()
        width = settings.width
        self.first = _weights(in_channels, width)
        self.second = _weights(RELATIONS * width, out_channels)
        self.dropout = settings.dropout

    def forward(self, x: LinearOperator, *relations: CSR) -> Tensor:
        h = torch.cat(_related(dropped(x, self.dropout, self.training) @ self.first, relations), dim=1).relu()
        h = dropout(h, self.dropout, self.training) @ self.second
        return torch.stack(_related(h, relations)).mean(dim=0)


def _weights(in_channels: int, out_channels: int) -> nn.Parameter:
    """The weights of all relations next to each other, each initialised by itself."""
    parts = [xavier_uniform_(torch.empty(in_channels, out_channels)) for _ in range(RELATIONS)]
    return nn.Parameter(torch.cat(parts, dim=1))


def _related(h: Tensor, relations: tuple[CSR, ...]) -> list[Tensor]:
    return [a @ part.contiguous() for a, part in zip(relations, h.chunk(RELATIONS, dim=1), strict=True)]


class GeomGCNModel(Model[GeomGCNSettings]):
    """Variants by embedding: Geom-GCN-I, -P and -S. Neighbourhoods are the published ones where a graph has them, and
    otherwise computed from embeddings of our own. Edges without their weights. The learning rate is constant; the
    authors lower it by a fifth whenever the validation loss has not fallen for 50 epochs."""

    name, title, settings_class = "geom-gcn", "Geom-GCN", GeomGCNSettings
    variants = ("isomap", "poincare", "struc2vec")

    def prepare(self, graph: PreparedGraph, settings: GeomGCNSettings) -> Inputs:
        key = f"neighbourhoods {settings.embedding}"
        relations = graph.of_edges(key, lambda data: related(data, neighbourhoods(data, settings.embedding)))
        return Inputs((graph.features(settings.normalize_features), *relations))

    def build(self, sizes: Sizes, settings: GeomGCNSettings) -> GeomGCN:
        return GeomGCN(sizes.features, sizes.classes, settings)

    def of_variant(self, variant: str) -> dict[str, Any]:
        return {"embedding": variant} if variant else {}

    def candidates(self) -> list[GeomGCNSettings]:
        """Each embedding, with row-normalised and unchanged features."""
        return [
            GeomGCNSettings.make({"embedding": name, "normalize_features": divided, "width": 16, "lr": 0.01})
            for name in self.variants
            for divided in (True, False)
        ]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {"width": trial.suggest_categorical("width", (16, 32, 48))}

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "normalize_features", "dropout", "width"}
        return [self.published(graph).model_dump(include=names) | {"weight_decay": 1e-5}]


def related(data: Data, rows: np.ndarray) -> tuple[CSR, ...]:
    """A matrix for each relation. Of rows about the same two nodes the last one counts, as in the authors' code, where
    neighbours in the plane come last."""
    n = int(data.num_nodes or 0)
    relation = dict(zip(map(tuple, rows[:, :2].tolist()), (4 * rows[:, 2] + rows[:, 3]).tolist(), strict=True))
    relation |= {(node, node): RELATIONS - 1 for node in range(n)}
    node, neighbour = np.array(list(relation)).T
    kind = np.fromiter(relation.values(), np.int64)
    scale = np.bincount(node, minlength=n) ** -0.5
    values = scale[node] * scale[neighbour]
    matrices = [
        sp.csr_matrix((values[kind == r], (node[kind == r], neighbour[kind == r])), shape=(n, n))
        for r in range(RELATIONS)
    ]
    return tuple(CSR.from_scipy(cast(sp.csr_matrix, matrix), torch.get_default_dtype()) for matrix in matrices)


MODEL = GeomGCNModel()
