"""A search that several processes share and that survives the death of each: Optuna's study in a database."""

import warnings
from pathlib import Path

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ncgnn.errors import InputError
from ncgnn.wording import several

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
_SAME = "give the same {}, or name another --storage"
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
        if url.startswith("sqlite:///"):
            file = Path(url.removeprefix("sqlite:///"))
            remedy = "move it away, or name another --storage" if file.exists() else "name another --storage"
            raise InputError(f"{file}: cannot be used as a database ({_first_line(error)}): {remedy}") from None
        raise InputError(f"--storage: the database cannot be used ({_first_line(error)})") from None


def check_task(study: optuna.Study, task: list[str], seed: int) -> None:
    """A study compares what was measured on the same graph and splits, a version of the graph for each in ``task``, and
    what it tries follows from one seed."""
    known = study.user_attrs
    if "task" not in known:
        study.set_user_attr("seed", seed)
        study.set_user_attr("task", task)
        return
    begun, before = f"study {study.study_name!r} was begun", known["task"]
    if len(before) != len(task):
        raise InputError(f"{begun} on {several(len(before), 'split')}, not {len(task)}: {_SAME.format('--splits')}")
    if before != task:
        raise InputError(f"{begun} on another graph or other splits of it: name another --storage")
    if known.get("seed", seed) != seed:
        raise InputError(f"{begun} with --seed {known['seed']}, not {seed}: {_SAME.format('--seed')}")


def begun(study: optuna.Study) -> list[FrozenTrial]:
    """The trials that are finished, under way or waiting, in the order in which they were drawn."""
    return study.get_trials(deepcopy=False, states=(*FINISHED, TrialState.RUNNING, TrialState.WAITING))


def count(study: optuna.Study, *states: TrialState) -> int:
    return len(study.get_trials(deepcopy=False, states=states))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
