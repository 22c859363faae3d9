"""Gradient boosting on features only (scikit-learn or LightGBM), with trees stored as tensors."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.data.graph import feature_matrix
from ncgnn.errors import InputError
from ncgnn.models.base.grown_trees import Library, grow, tree_arrays
from ncgnn.models.base.model import Change, Fitted, Knows, Model, OnEpoch, Sizes, in_one_epoch
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import RunSettings, Seed
from ncgnn.nn import Routing
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

MOST_FEATURES = 100
"""Maximum number of features; more, e.g. words, are reduced by selection or SVD."""

_DIRECTIONS = 32
_UNSEEN = -1e3  # the score of a class without a training node
_DEEPEST = 100_000  # levels of a tree
_SEEDS = 2**32  # scikit-learn's
_TREE = ("feature_idx", "num_threshold", "left", "right", "value")


class BoostingSettings(RunSettings):
    """The settings of boosting. With scikit-learn's 20 nodes per leaf, 140 training nodes would hardly be split."""

    trees: int = Field(100, ge=1, le=10_000, description="maximum number of trees per class")
    leaf: int = Field(5, ge=1, le=10**9, description="fewest training nodes per leaf")
    reduction: Literal["best", "columns", "directions"] = Field(
        "best", description="of many features: the most telling columns, singular directions, or the better of the two"
    )
    library: Library = Field("scikit-learn", description="what grows the trees; lightgbm has to be installed")
    seed: Seed = 0


class Trees(nn.Module):
    """Boosted trees as arrays. ``feature_idx``, ``num_threshold``, ``left``, ``right`` and ``value`` are [trees, nodes]
    (a leaf points to itself), ``base`` the scores before the first tree, ``reduction`` the selected columns, or the
    directions of the features."""

    parts: ClassVar[tuple[str, ...]] = _TREE

    def __init__(self, arrays: Mapping[str, Tensor]) -> None:
        super().__init__()
        for name, array in arrays.items():
            self.register_buffer(name, array)

    @staticmethod
    def columns(reduction: np.ndarray, x: sp.csr_array) -> np.ndarray:
        """What the trees split [N, d]."""
        return reduced(x, reduction)

    @staticmethod
    def goes_left(values: Tensor, at: Mapping[str, Tensor], place: tuple[Tensor, Tensor]) -> Tensor:
        """Whether the values [N, trees] belong into the left branches of the nodes at ``place``."""
        return values <= at["num_threshold"][place]

    def forward(self, *inputs: Any) -> Tensor:
        """Class scores [N, C] of features [N, f]."""
        at: dict[str, Any] = dict(self.named_buffers())
        rows = torch.from_numpy(self.columns(at["reduction"].numpy(), *inputs)).double()
        tree = torch.arange(len(at["left"]))
        node = torch.zeros(len(rows), len(tree), dtype=torch.int64)
        for _ in range(int(at["depth"])):
            goes_left = self.goes_left(rows.gather(1, at["feature_idx"][tree, node]), at, (tree, node))
            node = torch.where(goes_left, at["left"][tree, node], at["right"][tree, node])
        scores: Tensor = at["base"]
        for stage in at["value"][tree, node].unflatten(1, (-1, len(scores))).unbind(1):
            scores = scores + stage  # one after another, which rounds as scikit-learn does
        both = scores if scores.shape[1] > 1 else torch.cat([torch.zeros_like(scores), scores], dim=1)
        out = both.new_full((len(both), int(at["num_classes"])), _UNSEEN)
        out[:, at["classes"]] = both
        return out


class Boosting(Model[BoostingSettings]):
    """Feature reduction and number of trees are selected on validation nodes."""

    name, title, settings_class = "boosting", "gradient boosting", BoostingSettings
    knows: ClassVar[Knows] = "features"
    takes_targets = False
    rival = 2
    trees: ClassVar[type[Trees]] = Trees

    def prepare(self, graph: PreparedGraph, settings: BoostingSettings) -> Inputs:
        return Inputs((feature_matrix(graph.data.x),))

    def build(self, sizes: Sizes, settings: BoostingSettings) -> Trees:
        return self.trees({})

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: BoostingSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        x, y, train, val = inputs.arguments[0], split.y.numpy(), split.train_mask.numpy(), split.val_mask.numpy()
        tried = []
        for reduction in reductions(x, y, train, settings):
            columns = self.trees.columns(reduction, *inputs.arguments)
            right, arrays = _boost(columns, y, train, val, settings, self.trees.parts)
            tried.append((right, arrays | {"reduction": torch.from_numpy(reduction)}))
        found = max(tried, key=lambda one: one[0])[1]
        module = self.trees(found | {"num_classes": torch.tensor(len(split.class_names))})
        return in_one_epoch(module, self.probabilities(class_scores(module, inputs)), split, on_epoch)

    def restore(self, state: Mapping[str, Tensor], sizes: Sizes, settings: BoostingSettings) -> Trees:
        if set(state) != {*self.trees.parts, "base", "depth", "reduction", "classes", "num_classes"}:
            raise ValueError("it holds no trees")
        found = [state[name].flatten().tolist() for name in ("num_classes", "depth")]
        if found[0] != [sizes.classes] or len(found[1]) != 1 or not 0 <= found[1][0] <= _DEEPEST:
            raise ValueError("its trees are of another shape")
        return self.trees(state)

    def scores(self, module: nn.Module, inputs: Inputs) -> tuple[Tensor, Routing | None]:
        try:
            return super().scores(module, inputs)
        except (RuntimeError, IndexError):  # trees of a file, which may refer to nodes and features that are not there
            raise InputError(f"{self.title}: the trees do not fit together: the model file is damaged") from None

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return {"leaf": trial.suggest_int("leaf", 1, 40)}

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        return [{"leaf": 5}, {"leaf": 20}]


def _boost(
    x: np.ndarray, y: np.ndarray, train: np.ndarray, val: np.ndarray, settings: BoostingSettings, parts: Sequence[str]
) -> tuple[float, dict[str, Tensor]]:
    """The validation accuracy with the best number of trees, and these trees."""
    grown = grow(settings.library, x, y, train, val, settings.trees, settings.leaf, settings.seed)
    kept = grown.rounds[: int(np.argmax(grown.right)) + 1]
    arrays = tree_arrays(kept, parts) | {"base": grown.base.astype(float), "classes": grown.classes.astype(np.int64)}
    return max(grown.right), {name: torch.from_numpy(np.asarray(values)) for name, values in arrays.items()}


def reduced(x: sp.csr_array, reduction: np.ndarray) -> np.ndarray:
    """Dense features: the selected columns, or projections of the normalised rows."""
    if reduction.ndim == 1:
        chosen: np.ndarray = x[:, reduction].toarray()
        return chosen
    from sklearn.preprocessing import normalize

    directed: np.ndarray = normalize(x) @ reduction
    return directed


def reductions(x: sp.csr_array, y: np.ndarray, train: np.ndarray, settings: BoostingSettings) -> Iterator[np.ndarray]:
    """All columns or, if there are many, those that separate the training classes best (by F value), and the leading
    singular directions of all nodes' features [f, d], which do not use labels."""
    if x.shape[1] <= MOST_FEATURES:
        yield np.arange(x.shape[1])
        return
    if settings.reduction != "directions":
        yield _most_telling(x, y, train)
    if settings.reduction != "columns":
        yield _directions(x, settings.seed)


def _most_telling(x: sp.csr_array, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    from sklearn.feature_selection import SelectKBest, f_classif

    with warnings.catch_warnings(), np.errstate(all="ignore"):  # features that are constant among the training nodes
        warnings.simplefilter("ignore")
        best = SelectKBest(f_classif, k=MOST_FEATURES).fit(x[train], y[train])
    places: np.ndarray = best.get_support(indices=True)
    return places


def _directions(x: sp.csr_array, seed: int) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    with warnings.catch_warnings(), np.errstate(all="ignore"):  # features that are constant
        warnings.simplefilter("ignore")
        svd = TruncatedSVD(min(_DIRECTIONS, x.shape[0] - 1), random_state=seed % _SEEDS).fit(normalize(x))
    directions: np.ndarray = svd.components_.T
    return directions


MODEL = Boosting()
