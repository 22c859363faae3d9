"""Propose the next trial of a search."""

from collections.abc import Mapping
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState, create_trial

from ncgnn.tune.study import begun
from ncgnn.tune.tunable import Tunable

_BLIND = 5  # trials before TPE starts; includes the initial points, since random ones are rarely as good


def next_trial(model: Tunable, study: optuna.Study, seed: int) -> FrozenTrial:
    """A waiting trial with all its parameters: first the initial points, then TPE suggestions.

    It depends only on the seed and the earlier trials, so a stopped search continues as if it had never stopped.
    """
    earlier = begun(study)
    known = (point for point in model.points() if not any(_is_like(trial.params, point) for trial in earlier))
    sampler = optuna.samplers.TPESampler(n_startup_trials=_BLIND, seed=seed * 100_003 + len(earlier))
    rehearsal = optuna.create_study(direction="maximize", sampler=sampler)
    rehearsal.add_trials(trial for trial in earlier if trial.state != TrialState.WAITING)
    rehearsal.enqueue_trial(next(known, {}))
    trial = rehearsal.ask()
    model.settings(trial)
    return create_trial(state=TrialState.WAITING, params=trial.params, distributions=trial.distributions)


def _is_like(params: Mapping[str, Any], point: Mapping[str, Any]) -> bool:
    """Whether a trial is at the point, which may contain inactive parameters."""
    return all(point.get(name, value) == value for name, value in params.items())
