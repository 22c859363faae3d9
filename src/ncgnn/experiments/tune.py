"""Hyperparameter search that sees training and validation labels alone."""

import multiprocessing
import pickle
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import optuna
from optuna.trial import FrozenTrial, TrialState
from pydantic import BaseModel
from torch_geometric.data import Data

from ncgnn.bench import use_threads
from ncgnn.errors import InputError
from ncgnn.experiments.study import (
    FINISHED,
    GRACE,
    check_task,
    count,
    enqueue,
    locked,
    open_study,
    release_dead,
    sign_of_life,
)
from ncgnn.experiments.tune_model import Tunable
from ncgnn.sparse import pool
from ncgnn.train.folder import fingerprint
from ncgnn.train.run import Epoch

_LOOKS = (20, 40, 80, 160)  # epochs of the first run after which a trial may be given up
_AFTER_SPLIT = 1000  # later than any of them, for Optuna's one axis of steps

OnTrial = Callable[[optuna.Study, FrozenTrial], None]


@dataclass(frozen=True)
class Search:
    """A search: which model, on which splits of which graphs, where it is stored, and when it ends."""

    model: Tunable
    splits: list[list[Data]]  # of each graph
    name: str
    url: str
    lock: Path
    trials: int = 30
    seconds: float | None = None
    seed: int = 0
    grace: int = GRACE

    def open(self) -> optuna.Study:
        with locked(self.lock):
            study = open_study(self.name, self.url, self.grace)
            check_task(study, [fingerprint(split) for splits in self.splits for split in splits])
            enqueue(study, self.model.points()[: self.trials])
        return study


def _say_nothing(study: optuna.Study, trial: FrozenTrial) -> None:
    pass


def run(search: Search, jobs: int = 1, on_trial: OnTrial = _say_nothing) -> optuna.Study:
    """Run what is missing of a search, in this process and ``jobs - 1`` others."""
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
    with suppress(KeyboardInterrupt):  # the process that started this one says so
        _work(search, search.open(), on_trial)


def _work(search: Search, study: optuna.Study, on_trial: OnTrial) -> None:
    """Run trials until there are enough. Those of other processes are waited for: should one die, its trial is ours."""
    end = time.monotonic() + (float("inf") if search.seconds is None else search.seconds)
    with use_threads(1):
        while time.monotonic() < end and count(study, *FINISHED) < search.trials:
            if not _one_trial(search, study, on_trial):
                time.sleep(0.5)


def _one_trial(search: Search, study: optuna.Study, on_trial: OnTrial) -> bool:
    """Run a trial unless as many as are asked for are finished or under way."""
    with ExitStack() as alone:
        alone.enter_context(locked(search.lock))
        release_dead(study, search.grace)
        if count(study, *FINISHED, TrialState.RUNNING) >= search.trials:
            return False
        # a seed for each trial, so that a resumed search goes on as an undisturbed one would have
        study.sampler = optuna.samplers.TPESampler(seed=search.seed * 100_003 + len(study.get_trials(deepcopy=False)))

        def objective(trial: optuna.Trial) -> float:
            sign_of_life(study, trial)
            settings = search.model.settings(trial)
            alone.close()
            return evaluate(search, trial, settings)

        study.optimize(objective, n_trials=1, callbacks=[on_trial])
    return True


def evaluate(search: Search, trial: optuna.Trial, settings: BaseModel) -> float:
    """Mean of the best validation accuracies; a trial that promises little or diverges is given up."""
    values: list[float] = []
    watch = _FirstRun(trial)
    try:
        for value in accuracies(search, settings, watch):
            watch.is_over = True
            values.append(value)
            if len(values) < sum(map(len, search.splits)):  # after the last one there is nothing to save
                _give_up_if_poor(trial, fmean(values), _AFTER_SPLIT + len(values))
    except InputError as error:
        if not is_divergence(error):
            raise
        raise optuna.TrialPruned(str(error)) from None
    finally:
        pool.clear()
    return fmean(values)


def is_divergence(error: InputError) -> bool:
    return str(error).startswith("training diverged")


def accuracies(search: Search, settings: BaseModel, watch: Callable[[Epoch], None]) -> Iterator[float]:
    """The best validation accuracy of one run on each split of each graph."""
    for splits in search.splits:
        yield from search.model.accuracies(splits, settings, watch)


class _FirstRun:
    """Reports the best validation accuracy so far, in the first run of a trial."""

    def __init__(self, trial: optuna.Trial) -> None:
        self.trial, self.best, self.is_over = trial, 0.0, False

    def __call__(self, epoch: Epoch) -> None:
        self.best = max(self.best, epoch.val_accuracy)
        if epoch.epoch in _LOOKS and not self.is_over:
            _give_up_if_poor(self.trial, self.best, epoch.epoch)


def _give_up_if_poor(trial: optuna.Trial, value: float, step: int) -> None:
    trial.report(value, step)
    if trial.should_prune():
        raise optuna.TrialPruned
