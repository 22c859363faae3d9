"""Whose trial is whose: each is run by one process, and that of a process that died by the next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages._heartbeat import BaseHeartbeat, get_heartbeat_thread
from optuna.trial import FrozenTrial, TrialState

from ncgnn.experiments.locks import locked, try_lock
from ncgnn.experiments.study import begun


@contextmanager
def turn(study: optuna.Study, lock: Path, most: int, draw: Callable[[], FrozenTrial]) -> Iterator[optuna.Trial | None]:
    """A trial that is this process's alone while the block runs; None if ``most`` are finished or under way.

    An old trial that nobody runs comes before a new one, which ``draw`` gives. Should the block fail, the trial waits
    for the next turn: it is not to be lost, and its parameters must not become others.
    """
    with locked(lock):
        found = _take(study, lock, most)
        if found is None and len(begun(study)) < most:
            study.add_trial(draw())
            found = _take(study, lock, most)
    if found is None:
        yield None
        return
    trial, sign = found
    try:
        with get_heartbeat_thread(trial._trial_id, study._storage):
            yield trial
    except BaseException:
        with suppress(UpdateFinishedTrialError):
            study._storage.set_trial_state_values(trial._trial_id, TrialState.WAITING)
        raise
    finally:
        with locked(lock):
            _remove(sign)


def forget_finished(study: optuna.Study, lock: Path) -> None:
    """Remove what a kill at the very end of a trial leaves behind; only to be called while the lock is held."""
    for trial in begun(study):
        if trial.state.is_finished():
            _sign(lock, trial).unlink(missing_ok=True)


def _take(study: optuna.Study, lock: Path, most: int) -> tuple[optuna.Trial, IO[str]] | None:
    """The first trial that nobody runs, made ours, with the locked file that says so to others on this machine."""
    for trial in _abandoned(study, lock, most):
        sign = try_lock(_sign(lock, trial))
        if sign is None:
            continue
        if _claim(study, trial):
            return optuna.Trial(study, trial._trial_id), sign
        _remove(sign)
    return None


def _abandoned(study: optuna.Study, lock: Path, most: int) -> Iterator[FrozenTrial]:
    """Trials that wait, and those that may be of a dead process: one of this machine has left its file behind, one of
    another gives no signs of life."""
    silent = set(_heart(study)._get_stale_trial_ids(study._study_id))
    for trial in begun(study)[:most]:
        is_dead = trial._trial_id in silent or _sign(lock, trial).exists()
        if trial.state == TrialState.WAITING or (trial.state == TrialState.RUNNING and is_dead):
            yield trial


def _claim(study: optuna.Study, trial: FrozenTrial) -> bool:
    """Make a trial ours, unless another machine was quicker."""
    storage, number = study._storage, trial._trial_id
    _heart(study).record_heartbeat(number)  # before it runs, for others not to take us for dead
    with suppress(UpdateFinishedTrialError):
        if trial.state == TrialState.RUNNING:
            storage.set_trial_state_values(number, TrialState.WAITING)
        return storage.set_trial_state_values(number, TrialState.RUNNING)
    return False


def _sign(lock: Path, trial: FrozenTrial) -> Path:
    return lock.with_name(f"{lock.stem}-{trial.number}.running")


def _remove(sign: IO[str]) -> None:
    Path(sign.name).unlink(missing_ok=True)
    sign.close()


def _heart(study: optuna.Study) -> BaseHeartbeat:
    storage = study._storage
    assert isinstance(storage, BaseHeartbeat)  # as open_study makes it
    return storage
