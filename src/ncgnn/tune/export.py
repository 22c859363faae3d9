"""Export a search: a preset, and a table of all trials."""

import csv
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from ncgnn.files import atomic, toml
from ncgnn.provenance import versions
from ncgnn.tune.choice import Winner
from ncgnn.tune.study import count

_STATES = {TrialState.COMPLETE: "complete", TrialState.PRUNED: "pruned"}
_PACKAGES = ("ncgnn", "torch", "torch-geometric", "numpy", "optuna")


def write_trials(path: Path, study: optuna.Study) -> None:
    """One row per finished trial; pruned trials have the accuracy at which they were pruned."""
    trials = study.get_trials(deepcopy=False, states=tuple(_STATES))
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["number", "state", "validation_accuracy", "seconds", *names])
        rows.writerows(_row(trial, names) for trial in trials)


def write_preset(path: Path, study: optuna.Study, winner: Winner, command: str, splits: str) -> None:
    """All settings of the winner, so that they do not change with the defaults, and how they were found."""
    comments = [command, _counts(study), f"validation accuracy {winner.accuracy:.4f} on {splits}", _chosen(winner)]
    comments += [_versions(), datetime.now(UTC).date().isoformat()]
    with atomic(path) as file:
        file.writelines(f"# {line}\n" for line in comments)
        file.write(toml(winner.settings.effective()))


def summary(study: optuna.Study, winner: Winner) -> dict[str, Any]:
    """The result as plain values."""
    return {
        "study": study.study_name,
        "trials": {name: count(study, state) for state, name in _STATES.items()},
        "best_trial": winner.trial.number,
        "validation_accuracy": winner.accuracy,
        "settings": winner.settings.model_dump(mode="json"),
    }


def state_name(trial: FrozenTrial) -> str:
    return _STATES[trial.state]


def seconds(trial: FrozenTrial) -> float:
    return 0.0 if trial.duration is None else trial.duration.total_seconds()


def _row(trial: FrozenTrial, names: Sequence[str]) -> list[Any]:
    value = "" if trial.value is None else round(trial.value, 6)
    return [trial.number, state_name(trial), value, f"{seconds(trial):.1f}", *(trial.params.get(n, "") for n in names)]


def _counts(study: optuna.Study) -> str:
    counts = {name: count(study, state) for state, name in _STATES.items()}
    return f"trials: {', '.join(f'{number} {name}' for name, number in counts.items())}"


def _chosen(winner: Winner) -> str:
    if not winner.rivals:
        return f"trial {winner.trial.number}, the best with one seed"
    alone = f"{float(winner.trial.value or 0):.4f}"
    return f"trial {winner.trial.number} ({alone} with one seed), the best of {winner.rivals} over two seeds"


def _versions() -> str:
    found = {"python": platform.python_version()} | versions(*_PACKAGES)
    return ", ".join(f"{name} {number}" for name, number in found.items())
