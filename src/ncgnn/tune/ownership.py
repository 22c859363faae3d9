"""Whose trial is whose: each is run by one process, and that of a process that died by the next."""

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
    """A trial that is this process's alone while the block runs; None if ``most`` are finished or under way.

    An old trial that nobody runs comes before a new one, which ``draw`` gives. Should the block fail, the trial waits
    for the next turn: it is not to be lost, and its parameters must not become others.
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
    """Remove what a kill at the very end of a trial leaves behind; only to be called while the lock is held."""
    for trial in begun(study):
        if trial.state.is_finished():
            _sign(lock, trial).unlink(missing_ok=True)


def _take(study: SharedStudy, lock: Path, most: int) -> tuple[int, FileLock] | None:
    """The first trial that waits, or that a dead process of this machine has left behind, made ours.

    It comes as the database knows it, with the locked file that says to others on this machine whose it is.
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
    """A trial of another machine that gives no signs of life: it fails, and another with its parameters is ours."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if _sign(lock, trial).exists():  # of a process of this machine that lives, though it may have been stopped
            study.storage.record_heartbeat(study.id_of(trial))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        fail_stale_trials(study)
    return _take(study, lock, most)


def _claim(study: SharedStudy, number: int, state: TrialState) -> bool:
    """Make a trial ours, unless another machine was quicker."""
    study.storage.record_heartbeat(number)  # before it runs, for others not to take us for dead
    with suppress(UpdateFinishedTrialError):
        if state == TrialState.RUNNING:
            study.storage.set_trial_state_values(number, TrialState.WAITING)
        return study.storage.set_trial_state_values(number, TrialState.RUNNING)
    return False


@contextmanager
def _signs_of_life(study: SharedStudy, number: int) -> Iterator[None]:
    """Tell other machines, while the block runs, that somebody runs the trial."""
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
