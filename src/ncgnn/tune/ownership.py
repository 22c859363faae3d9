"""Ownership of trials: each is run by one process; the next process takes over trials of dead ones."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import optuna
from filelock import FileLock
from optuna.exceptions import ExperimentalWarning, UpdateFinishedTrialError
from optuna.storages import fail_stale_trials
from optuna.trial import FrozenTrial, TrialState

from ncgnn.files import locked, try_lock
from ncgnn.tune.study import SharedStudy, begun


@contextmanager
def turn(study: SharedStudy, lock: Path, most: int, draw: Callable[[], FrozenTrial]) -> Iterator[optuna.Trial | None]:
    """A trial owned by this process while the block runs; None if ``most`` are finished or running.

    Abandoned trials come before new ones from ``draw``. If the block fails, the trial waits for the next turn with the
    same parameters.
    """
    with locked(lock):
        found = _take(study, lock, most) or _take_silent(study, lock, most)
        if found is None and len(begun(study)) < most:
            study.add_trial(draw())
            found = _take(study, lock, most)
    if found is None:
        yield None
        return
    number, sign = found
    try:
        with _signs_of_life(study, number):
            yield optuna.Trial(study, number)
    except BaseException:
        with suppress(UpdateFinishedTrialError):
            study.storage.set_trial_state_values(number, TrialState.WAITING)
        raise
    finally:
        with locked(lock):
            _remove(sign)


def forget_finished(study: optuna.Study, lock: Path) -> None:
    """Remove leftovers of a process killed at the end of a trial; requires the lock."""
    for trial in begun(study):
        if trial.state.is_finished():
            _sign(lock, trial).unlink(missing_ok=True)


def _take(study: SharedStudy, lock: Path, most: int) -> tuple[int, FileLock] | None:
    """Claim the first trial that is waiting or was left behind by a dead process on this machine.

    Returns the trial as stored in the database, and the locked file that marks it as owned on this machine.
    """
    for trial in begun(study)[:most]:
        sign = _sign(lock, trial)
        if trial.state != TrialState.WAITING and not (trial.state == TrialState.RUNNING and sign.exists()):
            continue
        held = try_lock(sign)
        if held is None:
            continue
        number = study.id_of(trial)
        if _claim(study, number, trial.state):
            return number, held
        _remove(held)
    return None


def _take_silent(study: SharedStudy, lock: Path, most: int) -> tuple[int, FileLock] | None:
    """Take over a trial of another machine without a heartbeat: it fails, and we claim a copy with its parameters."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if _sign(lock, trial).exists():  # belongs to a live process on this machine, even if suspended
            study.storage.record_heartbeat(study.id_of(trial))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        fail_stale_trials(study)
    return _take(study, lock, most)


def _claim(study: SharedStudy, number: int, state: TrialState) -> bool:
    """Claim a trial, unless another machine was faster."""
    study.storage.record_heartbeat(number)  # before it runs, so that others do not consider us dead
    with suppress(UpdateFinishedTrialError):
        if state == TrialState.RUNNING:
            study.storage.set_trial_state_values(number, TrialState.WAITING)
        return study.storage.set_trial_state_values(number, TrialState.RUNNING)
    return False


@contextmanager
def _signs_of_life(study: SharedStudy, number: int) -> Iterator[None]:
    """Send heartbeats for the trial while the block runs."""
    ended, interval = Event(), study.storage.get_heartbeat_interval()

    def tell() -> None:
        while not ended.wait(interval):
            study.storage.record_heartbeat(number)

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _sign(lock: Path, trial: FrozenTrial) -> Path:
    return lock.with_name(f"{lock.stem}-{trial.number}.running")


def _remove(sign: FileLock) -> None:
    Path(sign.lock_file).unlink(missing_ok=True)
    sign.release()
