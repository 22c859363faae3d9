"""AdaEdge (Chen et al., 2020): a GCN whose predictions change the edges, trained again until that does not help."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.models.base.layers import LayerStack
from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings, stepped
from ncgnn.models.label_propagation import digest
from ncgnn.sparse import CSR, LinearOperator, Pattern, normalize
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training, class_scores
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class AdaEdgeSettings(TrainingSettings):
    """The settings of AdaEdge: of its GCN those of Kipf and Welling, of its edges our choice, since its authors
    published neither code nor thresholds."""

    layers: int = Field(2, ge=1, le=64, description="number of layers, the last one linear")
    width: int = Field(16, ge=1, le=4096, description="size of all layers but the last")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate on the input of each layer")
    rounds: int = Field(5, ge=0, le=100, description="maximum number of times that edges are changed")
    added: float = Field(0.1, ge=0, le=10, description="edges to add in each round, as a share of all")
    removed: float = Field(0.1, ge=0, le=1, description="edges to remove in each round, as a share of all")
    sure: float = Field(0.8, ge=0, le=1, description="least probability of both ends of a changed edge")


class AdaEdge(LayerStack):
    """A GCN that remembers the changed edges of the graph it was trained on; while there are none, it uses those it is
    given."""

    columns: Tensor
    starts: Tensor
    values: Tensor
    graph: Tensor

    def __init__(self, sizes: Sizes, settings: AdaEdgeSettings) -> None:
        super().__init__(sizes.features, sizes.classes, settings.layers, settings.width, settings.dropout)
        for name in ("columns", "starts", "graph"):
            self.register_buffer(name, torch.empty(0, dtype=torch.int64))
        self.register_buffer("values", torch.empty(0))

    def keep(self, a: CSR, graph: Tensor) -> None:
        """Remember the matrix for this graph."""
        self.columns, self.starts, self.values = a.pattern.indices, a.pattern.indptr, a.values
        self.graph = graph

    def forward(self, x: LinearOperator, a: LinearOperator | None = None, graph: Tensor | None = None) -> Tensor:
        if self.graph.numel():
            if graph is None or not torch.equal(graph, self.graph):
                raise InputError("AdaEdge predicts only the graph it was trained on, and this is another")
            a = CSR(Pattern(self.starts, self.columns, len(self.starts) - 1), self.values)
        return super().forward(x, a)


@dataclass(frozen=True)
class OwnEdges(Inputs):
    """Features, normalised adjacency and digest of the graph, and the plain adjacency to change."""

    plain: sp.csr_array


class AdaEdgeModel(Model[AdaEdgeSettings]):
    """A GCN is trained; edges between nodes of the same predicted class are added, edges between nodes of different
    ones removed, if both nodes are predicted with certainty; a new GCN is trained on these edges, and so on until
    validation accuracy no longer rises. It predicts only the graph it was trained on."""

    name, title, settings_class = "adaedge", "AdaEdge", AdaEdgeSettings
    takes_targets = False
    depth = "layers"

    def prepare(self, graph: PreparedGraph, settings: AdaEdgeSettings) -> OwnEdges:
        features = graph.features(settings.normalize_features)
        plain = graph.of_edges("plain", plain_adjacency)
        return OwnEdges((features, graph.adjacency, digest(graph.data)), plain)

    def build(self, sizes: Sizes, settings: AdaEdgeSettings) -> AdaEdge:
        return AdaEdge(sizes, settings)

    def training(self, module: nn.Module, settings: AdaEdgeSettings) -> Training:
        first, *others = cast(AdaEdge, module).weights
        groups = [{"params": [first], "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
        return Training(CrossEntropy(), adam(groups, settings.lr), Patience(settings.patience), settings.epochs)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: AdaEdgeSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        """Train on the edges of the graph, then on changed ones; the best training on validation nodes is kept."""
        assert isinstance(inputs, OwnEdges)
        best = super().fit(inputs, split, settings, on_epoch, change)
        plain, draw = inputs.plain, np.random.default_rng(settings.seed)
        for _ in range(settings.rounds):
            shares = class_scores(best.module, inputs).softmax(dim=1).numpy()
            plain = changed(plain, shares, settings, draw)
            x, _, graph = inputs.arguments
            a = with_loops_normalised(plain)
            found = super().fit(Inputs((x, a, graph)), split, settings, on_epoch, change)
            if found.best.val_accuracy <= best.best.val_accuracy:
                break
            cast(AdaEdge, found.module).keep(a, graph)
            best = Fitted(found.module, found.best, found.history)
        return best

    def restore(self, state: Mapping[str, Tensor], sizes: Sizes, settings: AdaEdgeSettings) -> nn.Module:
        module = self.build(sizes, settings)
        for name in ("columns", "starts", "values", "graph"):
            if name not in state:
                raise ValueError("it holds no edges")
            setattr(module, name, torch.empty_like(state[name]))
        try:
            module.load_state_dict(state)
        except RuntimeError:
            raise ValueError("the weights do not fit its configuration") from None
        return module

    def candidates(self) -> list[AdaEdgeSettings]:
        """The default, with row-normalised and unchanged features, and wider."""
        wide = {"width": 64, "added": 0.3, "removed": 0.3}
        raw = {"normalize_features": False}
        return [AdaEdgeSettings.make(values) for values in ({}, wide, raw, raw | wide)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return super().space(trial, graph, variant) | {
            "width": trial.suggest_categorical("width", (16, 64)),
            "added": stepped(trial, "added", 0.0, 0.5, 0.1),
            "removed": stepped(trial, "removed", 0.0, 0.5, 0.1),
            "sure": stepped(trial, "sure", 0.5, 0.9, 0.1),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "width", "added", "removed", "sure"}
        return [self.published(graph).model_dump(include=names)]


def changed(
    plain: sp.csr_array, shares: np.ndarray, settings: AdaEdgeSettings, draw: np.random.Generator
) -> sp.csr_array:
    """The adjacency matrix with edges added within predicted classes and removed between them, chosen at random among
    nodes predicted with certainty, given the probabilities [N, C]."""
    predicted, sure = shares.argmax(axis=1), shares.max(axis=1) >= settings.sure
    a = sp.coo_array(plain)
    upper = a.row < a.col
    i, j = a.row[upper], a.col[upper]
    wrong = np.flatnonzero(sure[i] & sure[j] & (predicted[i] != predicted[j]))
    gone = draw.permutation(wrong)[: round(settings.removed * len(i))]
    new = _pairs_within(predicted, np.flatnonzero(sure), round(settings.added * len(i)), draw)
    removed, added = (_both_ways(pairs, plain.shape) for pairs in (np.stack([i[gone], j[gone]]), new))
    new_only = added - added * (plain != 0)
    out = sp.csr_array(plain - plain * removed + new_only)
    out.eliminate_zeros()
    return out


def _pairs_within(predicted: np.ndarray, sure: np.ndarray, number: int, draw: np.random.Generator) -> np.ndarray:
    """Random pairs [2, at most ``number``] of certain nodes with the same predicted class."""
    if not len(sure):
        return np.empty((2, 0), np.int64)
    order = sure[np.argsort(predicted[sure], kind="stable")]
    counts = np.bincount(predicted[order])
    starts = np.cumsum(counts) - counts
    one = draw.choice(order, number)
    of = predicted[one]
    other = order[starts[of] + draw.integers(counts[of])]
    return np.stack([one, other])[:, one != other]


def _both_ways(pairs: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """The pairs as a symmetric matrix of ones."""
    i, j = np.concatenate([pairs, pairs[::-1]], axis=1)
    matrix = sp.csr_array((np.ones(len(i)), (i, j)), shape=shape)
    matrix.data[:] = 1
    return matrix


def with_loops_normalised(plain: sp.csr_array) -> CSR:
    a = sp.csr_matrix(plain + sp.eye_array(plain.shape[0]))
    return CSR.from_scipy(normalize(a), torch.get_default_dtype())


MODEL = AdaEdgeModel()
