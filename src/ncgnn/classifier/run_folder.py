"""The run folder: what was run, how it went, the model, the predictions, and with them the split."""

import csv
import json
import os
import platform
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch_geometric.data import Data

from ncgnn.classifier.estimator import NodeClassifier
from ncgnn.data import complete
from ncgnn.data.fingerprint import fingerprint
from ncgnn.data.graph import PARTS
from ncgnn.data.splits import nodes_to_test
from ncgnn.errors import InputError
from ncgnn.files import atomic
from ncgnn.provenance import commit, versions
from ncgnn.scored import Scored
from ncgnn.together import settled, together
from ncgnn.train.epoch import Epoch

_AGAIN = "retrain, or move the model file to a separate folder"
_PACKAGES = ("ncgnn", "torch", "torch-geometric", "numpy", "scipy", "numba")


RUN_FILES = (
    "run.json",
    "history.csv",
    "model.safetensors",
    "predictions.csv",
    "report.md",
    "search.csv",
    "capsules.png",
)
"""The files that a run may have; they are replaced together."""


def holds_run(folder: Path) -> bool:
    return (folder / "run.json").is_file() or (folder / "model.safetensors").is_file()


def write_run(
    folder: Path,
    classifier: NodeClassifier,
    scored: Scored,
    split: int,
    command: Sequence[str] = (),
    final: Scored | None = None,
) -> dict[str, Any]:
    """Write the folder of one run and return the contents of its ``run.json``; an earlier run there is replaced.

    Args:
        folder: where to.
        classifier: trained here.
        scored: its scores for the graph it was trained on.
        split: number of the split.
        command: what was typed.
        final: the scores of the final model, if it was trained again on all labels; all figures are those before.
    """
    run = run_description(classifier, scored, split, command, final)
    with together(folder, RUN_FILES) as stage:
        write_files(stage, run, classifier, final or scored)
    return run


def run_description(
    classifier: NodeClassifier, scored: Scored, split: int, command: Sequence[str], final: Scored | None
) -> dict[str, Any]:
    """The contents of ``run.json``."""
    run = {"command": list(command)} | describe(classifier, scored, split)
    if final is not None:
        run["refit"] = {"labels": int(final.data.train_mask.sum()), "epochs": classifier.best_.epoch}
    return run


def write_files(folder: Path, run: dict[str, Any], classifier: NodeClassifier, final: Scored) -> None:
    """Write the four files that every run has into an existing folder, one by one."""
    with atomic(folder / "history.csv") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(Epoch._fields)
        rows.writerows(classifier.history_)
    classifier.save(folder / "model.safetensors")
    with atomic(folder / "predictions.csv") as file:
        prediction_table(final).to_csv(file, index=False, lineterminator="\n")
    write_description(folder, run)


def write_description(folder: Path, run: dict[str, Any]) -> None:
    """Write ``run.json``: with the rest of a run, and again when more is known of it."""
    with atomic(folder / "run.json") as file:
        file.write(json.dumps(run, indent=2) + "\n")


def read_description(folder: Path) -> dict[str, Any] | None:
    """The contents of ``run.json``; None if there is none."""
    file = folder / "run.json"
    if not file.is_file():
        return None
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{file}: does not describe a run: {_AGAIN}")
    return found


def check_writable(folder: Path) -> None:
    """Whether :func:`write_run` will be able to write there; to be asked before the training."""
    nearest = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise InputError(f"{folder}: cannot be written ({nearest} is not a writable folder)")


def describe(classifier: NodeClassifier, scored: Scored, split: int) -> dict[str, Any]:
    """Everything needed to repeat the run, and its results."""
    data, right = scored.data, scored.predicted == scored.data.y.numpy()
    masks = {"train": data.train_mask, "val": data.val_mask, "test": nodes_to_test(data)}
    shares = {key: float(right[mask.numpy()].mean()) if mask.any() else None for key, mask in masks.items()}
    return {
        "graph": {"name": data.get("name"), "fingerprint": fingerprint(data), "nodes": data.num_nodes},
        "split": {"number": split} | {key: int(mask.sum()) for key, mask in masks.items()} | _aside(data),
        "model": classifier.definition.name,
        "config": classifier.config_.model_dump(mode="json"),
        "metrics": {"best_epoch": classifier.best_.epoch, "epochs": classifier.history_[-1].epoch}
        | {f"{key}_accuracy": value for key, value in shares.items()},
        "seconds": round(classifier.seconds_, 3),
        "commit": commit() or None,
        "versions": {"python": platform.python_version()} | versions(*_PACKAGES),
    }


def _aside(data: Data) -> dict[str, int]:
    mask = data.get("calibration_mask")
    return {"calibration": 0 if mask is None else int(mask.sum())}


def prediction_table(scored: Scored, coverage: float | None = None) -> pd.DataFrame:
    """One row per node: id, known label if any, role in the split if there is one, predicted class, probability,
    margin to the second class, and with ``coverage`` the set of likely classes, the likeliest first."""
    names = scored.names
    ranked = np.sort(scored.probabilities.numpy(), axis=1)
    columns: dict[str, Any] = {
        "id": names.nodes,
        "label": ["" if label is None else label for label in names.labels],
        "split": names.splits,
        "predicted": np.array(scored.classes)[scored.predicted],
        "probability": ranked[:, -1].astype(float).round(6),
        "margin": (ranked[:, -1] - ranked[:, -2]).astype(float).round(6),
        "set": None if coverage is None else named_sets(scored, coverage),
    }
    return pd.DataFrame({key: column for key, column in columns.items() if column is not None})


def named_sets(scored: Scored, coverage: float, by_class: bool = False) -> list[list[str]]:
    """The names of the classes in each node's set, the likeliest first."""
    order = np.argsort(-scored.scores.numpy(), axis=1, kind="stable")
    inside = np.take_along_axis(scored.class_sets(coverage, by_class), order, axis=1)
    names = np.array(scored.classes)[order]
    return [row[kept].tolist() for row, kept in zip(names, inside, strict=True)]


@dataclass(frozen=True, eq=False)
class SplitOfRun:
    """Which nodes a model was trained on: the fingerprint of its graph, a table of ids and roles, and its file."""

    graph: str
    table: pd.DataFrame
    file: Path

    def on(self, data: Data) -> Data:
        """The graph with this split; as it is if the split is of another graph.

        Later tables of the same graph hold the nodes it was trained on, known by their ids; labelled nodes that are new
        belong to the test.
        """
        data = complete(data)
        is_same = self.graph == fingerprint(data)
        if is_same and len(self.table) != data.num_nodes:
            raise _without_split(self.file)
        roles = self.table["split"] if is_same else _later_roles(data, self.table.set_index("id")["split"])
        if roles is None:
            return data
        out = copy(data)
        for role in (*PARTS, *(["calibration"] if "calibration" in set(roles) else [])):
            out[f"{role}_mask"] = torch.from_numpy((roles == role).to_numpy(copy=True))
        return out


def with_split_of_run(data: Data, model: Path) -> Data:
    """The graph with the split that the model was trained on; as it is where the folder of the model tells none, or
    tells it of another graph."""
    with settled(run_of(model)):
        split = read_split(model)
    return complete(data) if split is None else split.on(data)


def run_of(model: Path) -> Path:
    """The run folder of a model that is named by it, or by its file."""
    return model if model.is_dir() else model.parent


def read_split(model: Path) -> SplitOfRun | None:
    """The split beside a model, if there is one.

    Read it with the model, in one block of :func:`ncgnn.together.settled`: the run may be replaced in between.
    """
    folder = run_of(model)
    run = read_description(folder)
    if run is None:
        return None
    try:
        graph = str(run["graph"]["fingerprint"])
    except (KeyError, TypeError):
        raise InputError(f"{folder / 'run.json'}: does not describe a run: {_AGAIN}") from None
    file = folder / "predictions.csv"
    return SplitOfRun(graph, _ids_and_roles(file), file)


def _later_roles(data: Data, earlier: pd.Series) -> pd.Series | None:
    """None where it is no later state of the graph: without tables ids are numbers, which any graph has."""
    if data.get("encoding") is None or not set(earlier.index[earlier == "train"]) <= set(data.node_ids):
        return None
    roles = earlier.reindex(data.node_ids)
    is_new = roles.isna().to_numpy()
    roles[is_new] = np.where(data.y.numpy()[is_new] >= 0, "test", "")
    return roles


def _ids_and_roles(file: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(file, usecols=["id", "split"], dtype=str, keep_default_na=False) if file.is_file() else None
    except (OSError, ValueError):
        table = None
    if table is None or table["id"].duplicated().any():
        raise _without_split(file)
    return table


def _without_split(file: Path) -> InputError:
    return InputError(f"{file}: does not contain the split of the run: {_AGAIN}")
