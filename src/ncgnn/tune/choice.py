"""Select the best trial of a search."""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import optuna
from optuna.trial import FixedTrial, FrozenTrial, TrialState

from ncgnn.errors import InputError
from ncgnn.models import RunSettings
from ncgnn.train.epoch import Diverged
from ncgnn.train.reproducible import use_threads
from ncgnn.tune.search import Search, accuracies


class Winner(NamedTuple):
    """The selected trial with its settings and its mean validation accuracy over all seeds."""

    trial: FrozenTrial
    settings: RunSettings
    accuracy: float
    rivals: int  # number of trials that were rerun with a second seed


def choose(search: Search, study: optuna.Study, confirm: int) -> Winner:
    """Rerun the ``confirm`` best trials with a second seed and return the one with the highest mean.

    The best of many trials on few validation nodes is partly luck, which a second seed does not share.
    """
    best = _best_trials(study, max(1, confirm))
    if not best:
        raise InputError(f"study {study.study_name!r} has no complete trial: run more trials", "trials")
    if len(best) < 2:
        return Winner(best[0], _settings(search, best[0]), float(best[0].value or 0), 0)
    means = [fmean((float(trial.value or 0), _second_seed(search, study, trial))) for trial in best]
    first = max(range(len(best)), key=lambda i: means[i])
    return Winner(best[first], _settings(search, best[first]), means[first], len(best))


def _best_trials(study: optuna.Study, number: int) -> Sequence[FrozenTrial]:
    complete_ones = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return sorted(complete_ones, key=lambda trial: (-float(trial.value or 0), trial.number))[:number]


def _settings(search: Search, trial: FrozenTrial) -> RunSettings:
    return search.tunable.settings(FixedTrial(trial.params))


def _second_seed(search: Search, study: optuna.Study, trial: FrozenTrial) -> float:
    """Validation accuracy of a trial with seed 1; stored in the study, so that it is run only once."""
    key = f"second seed of trial {trial.number}"
    if key not in study.user_attrs:
        study.set_user_attr(key, _run_again(search, trial))
    return float(study.user_attrs[key])


def _run_again(search: Search, trial: FrozenTrial) -> float:
    settings = _settings(search, trial).model_copy(update={"seed": 1})
    try:
        with use_threads(1):
            return fmean(accuracies(search, settings, lambda epoch: None))
    except Diverged:
        return 0.0
