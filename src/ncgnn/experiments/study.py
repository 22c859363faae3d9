"""A search that several processes share and that survives the death of each: Optuna's study in a database."""

import warnings

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ncgnn.errors import InputError

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
GRACE = 60  # seconds without a sign of life after which the trial of another machine is taken up


def open_study(name: str, url: str, grace: int = GRACE) -> optuna.Study:
    """The study called ``name`` in the database at ``url``; both are made if need be."""
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    url = url.replace("postgresql://", "postgresql+psycopg://")
    waiting = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {}
    engine = {"poolclass": NullPool} | waiting  # a connection is needed now and then, not for hours
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            storage = RDBStorage(url, engine, heartbeat_interval=max(1, grace // 6), grace_period=grace)
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


def begun(study: optuna.Study) -> list[FrozenTrial]:
    """The trials that are finished, under way or waiting, in the order in which they were drawn."""
    return study.get_trials(deepcopy=False, states=(*FINISHED, TrialState.RUNNING, TrialState.WAITING))


def count(study: optuna.Study, *states: TrialState) -> int:
    return len(study.get_trials(deepcopy=False, states=states))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
