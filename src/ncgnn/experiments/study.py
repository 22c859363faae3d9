"""A search that several processes share and that survives the death of each: Optuna's study in a database."""

import fcntl
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import RDBStorage, fail_stale_trials
from optuna.storages._heartbeat import BaseHeartbeat
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ncgnn.errors import InputError

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
GRACE = 60  # seconds without a sign of life after which the trial of a process is taken up by others
_RETRIES = 2


def open_study(name: str, url: str, grace: int = GRACE) -> optuna.Study:
    """The study called ``name`` in the database at ``url``; both are made if need be."""
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    url = url.replace("postgresql://", "postgresql+psycopg://")
    waiting = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {}
    engine = {"poolclass": NullPool} | waiting  # a connection is needed now and then, not for hours
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            storage = RDBStorage(
                url,
                engine,
                heartbeat_interval=max(1, grace // 6),
                grace_period=grace,
            )
        return optuna.create_study(
            study_name=name,
            storage=storage,
            direction="maximize",
            load_if_exists=True,
            # those that learn slowly have caught up by then
            pruner=optuna.pruners.MedianPruner(n_startup_trials=6, n_warmup_steps=40),
        )
    except (ArgumentError, SQLAlchemyError, ImportError, RuntimeError) as error:
        raise InputError(f"--storage: the database cannot be used ({_first_line(error)})") from None


def check_task(study: optuna.Study, task: list[str]) -> None:
    """A study compares what was measured on the same graph and splits, which ``task`` identifies."""
    found = study.user_attrs.get("task")
    if found is None:
        study.set_user_attr("task", task)
    elif found != task:
        raise InputError(
            f"study {study.study_name!r} was made on another graph or with other --splits:"
            " choose another --storage, or the same --splits"
        )


def enqueue(study: optuna.Study, points: Sequence[dict[str, Any]]) -> None:
    """Queue the points, except those that have been tried or wait there already."""
    seen = [_point(trial) for trial in study.get_trials(deepcopy=False) if trial.state != TrialState.FAIL]
    for point in points:
        if point not in seen:
            study.enqueue_trial(point)
            seen.append(point)


def count(study: optuna.Study, *states: TrialState) -> int:
    return len(study.get_trials(deepcopy=False, states=states))


def sign_of_life(study: optuna.Study, trial: optuna.Trial) -> None:
    """The first one of a trial, to be given before it has parameters; the others are given by Optuna."""
    storage = study._storage
    assert isinstance(storage, BaseHeartbeat)
    storage.record_heartbeat(trial._trial_id)


def release_dead(study: optuna.Study, grace: int = GRACE) -> None:
    """Give the trials of processes that died back to the queue.

    What is queued follows from the failed trials themselves, so that a kill between the two steps loses nothing.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        fail_stale_trials(study)
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if not trial.params and _age(trial) > timedelta(seconds=2 * grace):
            # killed before its first sign of life, for the lack of which Optuna believes it alive
            study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)
    failed = [_point(trial) for trial in study.get_trials(deepcopy=False, states=(TrialState.FAIL,))]
    enqueue(study, [point for point in failed if point and failed.count(point) <= _RETRIES])


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone on this machine while the block runs; a killed process frees the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _point(trial: FrozenTrial) -> dict[str, Any]:
    """What was asked of a trial that came from the queue, what was chosen for another."""
    asked: dict[str, Any] = trial.system_attrs.get("fixed_params", trial.params)
    return asked


def _age(trial: FrozenTrial) -> timedelta:
    return datetime.now() - (trial.datetime_start or datetime.now())


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
