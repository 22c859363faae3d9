"""A model on a graph, for a search: its splits, its next trial and the accuracies of its settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.trial import BaseTrial, FrozenTrial, TrialState, create_trial
from torch_geometric.data import Data

from ncgnn.data import complete, num_published_splits, standardise, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.errors import InputError
from ncgnn.models import Model, PreparedGraph, RunSettings
from ncgnn.models.base.model import OnEpoch
from ncgnn.tune.study import begun

_BLIND = 5  # trials before TPE starts; includes the initial points, since random ones are rarely as good


@dataclass(frozen=True)
class Tunable:
    """A model, or one of its variants, to tune for a graph."""

    model: Model[Any]
    graph: str
    variant: str = ""

    @property
    def kind(self) -> str:
        """Suffix of study and file names, after the graph."""
        return self.model.label(self.variant)

    def settings(self, trial: BaseTrial) -> RunSettings:
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


def next_trial(model: Tunable, study: optuna.Study, seed: int) -> FrozenTrial:
    """A waiting trial with all its parameters: first the initial points, then TPE suggestions.

    It depends only on the seed and the earlier trials, so a stopped search continues as if it had never stopped.
    """
    earlier = begun(study)
    known = (point for point in model.points() if not any(_is_like(trial.params, point) for trial in earlier))
    sampler = optuna.samplers.TPESampler(n_startup_trials=_BLIND, seed=(seed * 100_003 + len(earlier)) % 2**32)
    rehearsal = optuna.create_study(direction="maximize", sampler=sampler)
    rehearsal.add_trials(trial for trial in earlier if trial.state != TrialState.WAITING)
    rehearsal.enqueue_trial(next(known, {}))
    trial = rehearsal.ask()
    model.settings(trial)
    return create_trial(state=TrialState.WAITING, params=trial.params, distributions=trial.distributions)


def _is_like(params: Mapping[str, Any], point: Mapping[str, Any]) -> bool:
    """Whether a trial is at the point, which may contain inactive parameters."""
    return all(point.get(name, value) == value for name, value in params.items())


def hidden_splits(data: Data, number: int | None = None) -> list[Data]:
    """The first usual splits of a graph, without test labels; default: two, or the only published one."""
    if number is None:
        number = 1 if num_published_splits(data) == 1 else 2
    splits = [usual_split(complete(data), seed) for seed in range(number)]
    if not all(split.val_mask.any() for split in splits):
        raise InputError(f"graph {data.get('name', '')!r} has no validation nodes, which tuning requires")
    return [hide_test_labels(standardise(split)) for split in splits]
