"""A model on a graph, for a search."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch_geometric.data import Data

from ncgnn.models import Model, PreparedGraph, RunSettings
from ncgnn.models.base.model import OnEpoch

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


@dataclass(frozen=True)
class Tunable:
    """A model, or one of its variants, to tune for a graph."""

    model: Model[Any]
    graph: str
    variant: str = ""

    @property
    def kind(self) -> str:
        """Suffix of study and file names, after the graph."""
        return self.variant or self.model.name

    def settings(self, trial: "BaseTrial") -> RunSettings:
        """The settings suggested by the trial."""
        suggested = self.model.of_variant(self.variant) | self.model.space(trial, self.graph, self.variant)
        found: RunSettings = self.model.settings_class.make(suggested)
        return found

    def points(self) -> list[dict[str, Any]]:
        """Points to try first."""
        return self.model.points(self.graph, self.variant)

    def accuracies(self, splits: Sequence[Data], settings: RunSettings, watch: OnEpoch) -> Iterator[float]:
        """The best validation accuracy of one run on each split of one graph."""
        graph = PreparedGraph(splits[0])
        for split in splits:  # numbers of tables are scaled split by split
            inputs = self.model.prepare(graph.with_split(split), settings)
            yield self.model.fit(inputs, split, settings, watch).best.val_accuracy
