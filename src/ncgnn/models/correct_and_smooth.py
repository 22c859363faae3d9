"""Correct and Smooth (Huang et al., 2021): an MLP whose errors and predictions spread along edges."""

from typing import TYPE_CHECKING, Any, Literal, cast

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.models import mlp
from ncgnn.models.base.layers import LayerSettings, LayerStack
from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import scaled, stepped
from ncgnn.sparse import CSR, Dense, LinearOperator
from ncgnn.train.epoch import accuracy
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

_LARGEST_SCALE = 1000.0  # an error that hardly reaches a node is not blown up further, as in PyG


class CorrectSettings(LayerSettings):
    """The settings of Correct and Smooth; with one layer, its base is a linear model."""

    model: Literal["correct-and-smooth"] = Field("correct-and-smooth", description="always correct-and-smooth")
    correct: float = Field(0.8, ge=0, lt=1, description="share of a node's error that comes from its neighbours")
    smooth: float = Field(0.8, ge=0, lt=1, description="share of a node's prediction that comes from its neighbours")
    steps: int = Field(50, ge=1, le=10_000, description="steps of each propagation")


class CorrectAndSmooth(nn.Module):
    r"""With predictions :math:`\mathbf{Z}` of an MLP, known labels :math:`\mathbf{Y}` and :math:`\mathbf{S} =
    \mathbf{D}^{-1/2} \mathbf{A} \mathbf{D}^{-1/2}`:

    - correct: :math:`\mathbf{E} \leftarrow \alpha_c \mathbf{S} \mathbf{E} + (1 - \alpha_c) (\mathbf{Y} - \mathbf{Z})`
      of known nodes, 0 for others, within -1 and 1; each row, scaled to the mean error :math:`\sigma` of known nodes,
      is added: :math:`\hat{\mathbf{z}}_i = \mathbf{z}_i + \sigma \mathbf{e}_i / \lVert \mathbf{e}_i \rVert_1`;
    - smooth: :math:`\mathbf{H} \leftarrow \alpha_s \mathbf{S} \mathbf{H} + (1 - \alpha_s) \mathbf{G}` within 0 and 1,
      where :math:`\mathbf{G}` is :math:`\mathbf{Y}` for known nodes and :math:`\hat{\mathbf{Z}}` for others.

    Shapes:
        - **input:** features [N, f], :math:`\mathbf{S}` [N, N] and known labels [N, C], with rows of zeros for others
        - **output:** logarithms of the shares of classes [N, C]
    """

    def __init__(self, sizes: Sizes, settings: CorrectSettings) -> None:
        super().__init__()
        self.base = LayerStack(sizes.features, sizes.classes, settings.layers, settings.width, settings.dropout)
        self.correct, self.smooth, self.steps = settings.correct, settings.smooth, settings.steps

    def forward(self, x: LinearOperator, s: CSR, known: Dense) -> Tensor:
        z, y = self.base(x).softmax(dim=1), known.matrix.to(s.values)
        is_known = y.any(dim=1, keepdim=True)
        if is_known.any():
            error = torch.where(is_known, y - z, 0)
            spread = self._spread(s, error, self.correct, -1)
            scale = error.abs().sum() / is_known.sum() / spread.abs().sum(dim=1, keepdim=True)
            z = z + torch.where(scale > _LARGEST_SCALE, 1, scale) * spread
        h = self._spread(s, torch.where(is_known, y, z), self.smooth, 0)
        return h.clamp(min=torch.finfo(h.dtype).tiny).log()

    def _spread(self, s: CSR, start: Tensor, share: float, least: float) -> Tensor:
        h = start
        for _ in range(self.steps):
            h = (share * (s @ h) + (1 - share) * start).clamp(least, 1)
        return h


class CorrectModel(Model[CorrectSettings]):
    """The MLP is trained alone, without edges; what follows has no weights."""

    name, title, settings_class = "correct-and-smooth", "Correct and Smooth", CorrectSettings
    takes_targets = False
    rival = 6

    def prepare(self, graph: PreparedGraph, settings: CorrectSettings) -> mlp.Rows:
        divided = settings.normalize_features
        arguments = graph.features(divided), graph.neighbours("degrees"), graph.known_classes
        return mlp.Rows(arguments, graph.x(divided))

    def build(self, sizes: Sizes, settings: CorrectSettings) -> CorrectAndSmooth:
        return CorrectAndSmooth(sizes, settings)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: CorrectSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        """Train the MLP on training and validation nodes; the result is that of both parts."""
        assert isinstance(inputs, mlp.Rows)
        base = mlp.MODEL.fit(mlp.Rows(inputs.arguments[:1], inputs.x), split, cast(Any, settings), on_epoch, change)
        module = self.build(Sizes.of(split), settings).to(split.y.device)
        module.base = cast(LayerStack, base.module)
        scores, val = class_scores(module, inputs), split.val_mask
        loss = F.cross_entropy(scores[val], split.y[val]).item()
        best = base.best._replace(val_loss=loss, val_accuracy=accuracy(scores, split.y, val))
        return Fitted(module, best, base.history)

    def reads_labels(self, settings: CorrectSettings) -> bool:
        return True

    def candidates(self) -> list[CorrectSettings]:
        """The default, with row-normalised features, which suits words, and with unchanged features, which suits
        numbers; and each with less smoothing, which suits graphs whose neighbours differ."""
        less, raw = {"correct": 0.5, "smooth": 0.1}, {"normalize_features": False}
        return [CorrectSettings.make(values) for values in ({}, raw, less, raw | less)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return {
            "lr": scaled(trial, "lr", 1e-3, 0.05),
            "weight_decay": scaled(trial, "weight_decay", 1e-5, 1e-2),
            "normalize_features": trial.suggest_categorical("normalize_features", (False, True)),
            "dropout": stepped(trial, "dropout", 0.0, 0.9, 0.1),
            "correct": stepped(trial, "correct", 0.0, 0.95, 0.05),
            "smooth": stepped(trial, "smooth", 0.0, 0.95, 0.05),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        names = {"lr", "weight_decay", "normalize_features", "dropout", "correct", "smooth"}
        return [self.published(graph).model_dump(include=names)]


MODEL = CorrectModel()
