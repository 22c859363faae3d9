"""Hyperparameter search that only sees training and validation labels."""

import multiprocessing
import pickle
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FixedTrial, FrozenTrial, TrialState
from torch_geometric.data import Data

from ncgnn.data.fingerprint import fingerprint
from ncgnn.errors import InputError
from ncgnn.files import locked
from ncgnn.models import RunSettings
from ncgnn.train.epoch import Diverged, Epoch
from ncgnn.train.reproducible import use_threads
from ncgnn.tune.ownership import forget_finished, turn
from ncgnn.tune.study import FINISHED, SharedStudy, check_task, count, open_study
from ncgnn.tune.tunable import Tunable, next_trial

_LOOKS = (20, 40, 80, 160)  # epochs of the first run at which a trial may be pruned
_AFTER_SPLIT = 1000  # later than any of them, for Optuna's one axis of steps
_MEASURED = "settings"  # of a trial, as a hash

OnTrial = Callable[[optuna.Study, FrozenTrial], None]


@dataclass(frozen=True)
class Search:
    """A search: model, graphs and splits, storage, and stopping criteria."""

    tunable: Tunable
    splits: list[list[Data]]  # of each graph
    name: str
    url: str
    lock: Path
    trials: int = 30
    seconds: float | None = None
    seed: int = 0

    def open(self) -> SharedStudy:
        with locked(self.lock):
            study = open_study(self.name, self.url)
            check_task(study, [fingerprint(split) for splits in self.splits for split in splits], self.seed)
            self._check_settings(study)
            forget_finished(study, self.lock)
        return study

    def _check_settings(self, study: optuna.Study) -> None:
        if not all(map(self._means_what_was_measured, study.get_trials(states=(TrialState.COMPLETE,)))):
            raise InputError(
                f"study {study.study_name!r} was searched in another space of settings, by another version of ncgnn:"
                " move its files away, or choose another storage",
                "storage",
            )

    def _means_what_was_measured(self, trial: FrozenTrial) -> bool:
        try:
            now = self.tunable.settings(FixedTrial(trial.params)).hash
        except ValueError:  # a parameter that the trial does not have, or a value that is none any more
            return False
        return bool(trial.user_attrs.get(_MEASURED, now) == now)


def _say_nothing(study: optuna.Study, trial: FrozenTrial) -> None:
    pass


def run(search: Search, jobs: int = 1, on_trial: OnTrial = _say_nothing) -> optuna.Study:
    """Run the missing trials of a search in this process and ``jobs - 1`` others."""
    study = search.open()
    context = multiprocessing.get_context("spawn")
    others = [
        context.Process(target=_join, args=(pickle.dumps(search), on_trial), daemon=True) for _ in range(jobs - 1)
    ]
    for process in others:
        process.start()
    _work(search, study, on_trial)
    for process in others:
        process.join()
    return study


def _join(packed: bytes, on_trial: OnTrial) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch's, about sparse features
        search: Search = pickle.loads(packed)
    with suppress(KeyboardInterrupt):  # the parent process reports it
        _work(search, search.open(), on_trial)


def _work(search: Search, study: SharedStudy, on_trial: OnTrial) -> None:
    """Run trials until there are enough. Wait for other processes, and take over their trials if they die."""
    end = time.monotonic() + (float("inf") if search.seconds is None else search.seconds)
    with use_threads(1):
        while time.monotonic() < end and count(study, *FINISHED) < search.trials:
            if not _one_trial(search, study, on_trial):
                time.sleep(0.5)


def _one_trial(search: Search, study: SharedStudy, on_trial: OnTrial) -> bool:
    """Run a trial, unless the requested number is finished or running."""
    with turn(study, search.lock, search.trials, lambda: next_trial(search.tunable, study, search.seed)) as trial:
        if trial is None:
            return False
        with suppress(UpdateFinishedTrialError):  # we were suspended so long that another machine has finished it
            value = _value(search, trial)
            state = TrialState.PRUNED if value is None else TrialState.COMPLETE
            study.tell(trial, value, state, skip_if_finished=True)
    on_trial(study, study.get_trials(deepcopy=False)[trial.number])
    return True


def _value(search: Search, trial: optuna.Trial) -> float | None:
    """The value of a trial; None if it was pruned."""
    try:
        settings = search.tunable.settings(trial)
        trial.set_user_attr(_MEASURED, settings.hash)
        return evaluate(search, trial, settings)
    except optuna.TrialPruned:
        return None


def evaluate(search: Search, trial: optuna.Trial, settings: RunSettings) -> float:
    """Mean of the best validation accuracies; unpromising or diverging trials are pruned. With several graphs, nothing
    is pruned: the result on the first graph says little about the others."""
    values: list[float] = []
    watch, is_single = _FirstRun(trial), len(search.splits) == 1
    watch.is_over = not is_single
    try:
        for value in accuracies(search, settings, watch):
            watch.is_over = True
            values.append(value)
            if is_single and len(values) < len(search.splits[0]):  # after the last split, pruning saves nothing
                _give_up_if_poor(trial, fmean(values), _AFTER_SPLIT + len(values))
    except Diverged as error:
        raise optuna.TrialPruned(str(error)) from None
    return fmean(values)


def accuracies(search: Search, settings: RunSettings, watch: Callable[[Epoch], None]) -> Iterator[float]:
    """The best validation accuracy of one run on each split of each graph."""
    for splits in search.splits:
        yield from search.tunable.accuracies(splits, settings, watch)


class _FirstRun:
    """Reports the best validation accuracy so far, in the first run of a trial."""

    def __init__(self, trial: optuna.Trial) -> None:
        self.trial, self.best, self.is_over = trial, 0.0, False

    def __call__(self, epoch: Epoch) -> None:
        self.best = max(self.best, epoch.val_accuracy)
        if epoch.epoch in _LOOKS and not self.is_over:
            _give_up_if_poor(self.trial, self.best, epoch.epoch)


def _give_up_if_poor(trial: optuna.Trial, value: float, step: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a trial which is run again has reported this before
        trial.report(value, step)
    if trial.should_prune():
        raise optuna.TrialPruned
