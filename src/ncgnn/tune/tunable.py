"""What can be tuned: NCGNN with one of its filters, or a GCN for comparison."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch_geometric.data import Data

from ncgnn import baselines
from ncgnn.experiments.recipes import Recipe
from ncgnn.models.base.features import prepare_features
from ncgnn.models.base.filter_cache import filter_folder, prepare_filter
from ncgnn.models.ncgnn.config import Config
from ncgnn.models.ncgnn.points import known_gcn_points, known_points
from ncgnn.models.ncgnn.space import suggest, suggest_gcn
from ncgnn.train.epoch import Epoch
from ncgnn.train.run import fit

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

Watch = Callable[[Epoch], None]


class Tunable(Protocol):
    """A model on a graph, as a search sees it."""

    @property
    def kind(self) -> str: ...

    def settings(self, trial: "BaseTrial") -> Recipe:
        """What the trial suggests."""

    def points(self) -> list[dict[str, Any]]:
        """What to try first."""

    def accuracies(self, splits: Sequence[Data], settings: Any, watch: Watch) -> Iterator[float]:
        """The best validation accuracy of one run on each split of one graph."""


@dataclass(frozen=True)
class TunableNCGNN:
    graph: str
    filter: str

    @property
    def kind(self) -> str:
        return self.filter

    def settings(self, trial: "BaseTrial") -> Config:
        return Config.make(suggest(trial, self.graph, self.filter))

    def points(self) -> list[dict[str, Any]]:
        return known_points(self.graph, self.filter)

    def accuracies(self, splits: Sequence[Data], settings: Config, watch: Watch) -> Iterator[float]:
        prepared = prepare_filter(settings.make_filter(), splits[0], torch.get_default_dtype(), filter_folder())
        for split in splits:
            x = prepare_features(split.x, settings.normalize_features)  # numbers of tables are scaled split by split
            yield fit(split, x, prepared, settings, watch).best.val_accuracy


@dataclass(frozen=True)
class TunableGCN:
    graph: str
    kind: str = "gcn"

    def settings(self, trial: "BaseTrial") -> baselines.Settings:
        return baselines.Settings.make(suggest_gcn(trial))

    def points(self) -> list[dict[str, Any]]:
        return known_gcn_points(self.graph)

    def accuracies(self, splits: Sequence[Data], settings: baselines.Settings, watch: Watch) -> Iterator[float]:
        for split in splits:
            yield baselines.fit(split, settings, watch).best.val_accuracy
