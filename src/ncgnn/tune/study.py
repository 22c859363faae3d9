"""An Optuna study in a database, shared by several processes and robust against crashes."""

import warnings
from pathlib import Path

import optuna
from optuna.pruners import BasePruner, MedianPruner
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ncgnn.errors import InputError
from ncgnn.text import several

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
_OTHER = "choose another storage"
GRACE = 60  # seconds without a heartbeat before a trial of another machine is taken over


class SharedStudy(optuna.Study):
    """A study with its database, which stores the owner and the heartbeat of each trial."""

    def __init__(self, name: str, storage: RDBStorage, pruner: BasePruner) -> None:
        super().__init__(name, storage, pruner=pruner)
        self.storage = storage

    def id_of(self, trial: FrozenTrial) -> int:
        """The id of a trial in the database."""
        study = self.storage.get_study_id_from_name(self.study_name)
        return self.storage.get_trial_id_from_study_id_trial_number(study, trial.number)


def open_study(name: str, url: str, grace: int = GRACE) -> SharedStudy:
    """The study called ``name`` in the database at ``url``; both are created if missing."""
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
                heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(),
            )
        optuna.create_study(study_name=name, storage=storage, direction="maximize", load_if_exists=True)
        # slow learners have caught up by then
        return SharedStudy(name, storage, MedianPruner(n_startup_trials=6, n_warmup_steps=40))
    except (ArgumentError, SQLAlchemyError, ImportError, RuntimeError) as error:
        if url.startswith("sqlite:///"):
            file = Path(url.removeprefix("sqlite:///"))
            remedy = f"move it away, or {_OTHER}" if file.exists() else _OTHER
            reason = f"{file}: cannot be used as a database ({_first_line(error)})"
            raise InputError(f"{reason}: {remedy}", "storage") from None
        raise InputError(f"the database cannot be used ({_first_line(error)}): {_OTHER}", "storage") from None


def check_task(study: optuna.Study, task: list[str], seed: int) -> None:
    """Check that the study has the same seed, graph and splits; ``task`` has one graph version per split."""
    known = study.user_attrs
    if "task" not in known:
        study.set_user_attr("seed", seed)
        study.set_user_attr("task", task)
        return
    begun, before = f"study {study.study_name!r} was started", known["task"]
    if len(before) != len(task):
        difference = f"on {several(len(before), 'split')}, not {len(task)}"
        raise InputError(f"{begun} {difference}: use the same splits, or {_OTHER}", "splits", "storage")
    if before != task:
        raise InputError(f"{begun} on another graph or other splits of it: {_OTHER}", "storage")
    if known.get("seed", seed) != seed:
        difference = f"with seed {known['seed']}, not {seed}"
        raise InputError(f"{begun} {difference}: use the same seed, or {_OTHER}", "seed", "storage")


def begun(study: optuna.Study) -> list[FrozenTrial]:
    """Finished, running and waiting trials, in the order they were proposed."""
    return study.get_trials(deepcopy=False, states=(*FINISHED, TrialState.RUNNING, TrialState.WAITING))


def count(study: optuna.Study, *states: TrialState) -> int:
    return len(study.get_trials(deepcopy=False, states=states))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
