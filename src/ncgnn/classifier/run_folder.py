"""The run folder: what was run, how it went, the model, the predictions."""

import csv
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.classifier.estimator import NCGNNClassifier
from ncgnn.data import complete
from ncgnn.data.fingerprint import fingerprint
from ncgnn.data.graph import PARTS
from ncgnn.data.splits import nodes_to_test
from ncgnn.errors import InputError
from ncgnn.files import atomic
from ncgnn.provenance import commit, versions
from ncgnn.train.epoch import Epoch

_PACKAGES = ("ncgnn", "torch", "torch-geometric", "numpy", "scipy", "numba")


def write_run(
    folder: Path,
    classifier: NCGNNClassifier,
    data: Data,
    split: int,
    command: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the folder of one run and return the contents of its ``run.json``; ``command`` is what was typed."""
    data = complete(data)
    folder.mkdir(parents=True, exist_ok=True)
    lengths = classifier.decision_function(data)
    run = {"command": list(command)} | describe(classifier, data, split, lengths)
    with atomic(folder / "history.csv") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(Epoch._fields)
        rows.writerows(classifier.history_)
    classifier.save(folder / "model.safetensors")
    with atomic(folder / "predictions.csv") as file:
        prediction_table(classifier, data, lengths).to_csv(file, index=False, lineterminator="\n")
    write_description(folder, run)
    return run


def write_description(folder: Path, run: dict[str, Any]) -> None:
    """Write ``run.json``: with the rest of a run, and again when more is known of it."""
    with atomic(folder / "run.json") as file:
        file.write(json.dumps(run, indent=2) + "\n")


def check_writable(folder: Path) -> None:
    """Whether :func:`write_run` will be able to write there; to be asked before the training."""
    nearest = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise InputError(f"{folder}: cannot be written ({nearest} is not a folder one may write to)")


def describe(classifier: NCGNNClassifier, data: Data, split: int, lengths: np.ndarray) -> dict[str, Any]:
    """Everything needed to repeat the run, and its results."""
    chosen = torch.from_numpy(lengths).argmax(dim=1)
    masks = {"train": data.train_mask, "val": data.val_mask, "test": nodes_to_test(data)}
    right = {key: _share_right(chosen, data.y, mask) for key, mask in masks.items()}
    return {
        "graph": {"name": data.get("name"), "fingerprint": fingerprint(data), "nodes": data.num_nodes},
        "split": {"number": split} | {key: int(mask.sum()) for key, mask in masks.items()} | _aside(data),
        "config": classifier.config_.model_dump(mode="json"),
        "metrics": {"best_epoch": classifier.best_.epoch, "epochs": len(classifier.history_)}
        | {f"{key}_accuracy": value for key, value in right.items()},
        "seconds": round(classifier.seconds_, 3),
        "commit": commit() or None,
        "versions": {"python": platform.python_version()} | versions(*_PACKAGES),
    }


def _aside(data: Data) -> dict[str, int]:
    mask = data.get("calibration_mask")
    return {"calibration": 0 if mask is None else int(mask.sum())}


def _share_right(chosen: Tensor, y: Tensor, mask: Tensor) -> float | None:
    return (chosen[mask] == y[mask]).double().mean().item() if mask.any() else None


def prediction_table(
    classifier: NCGNNClassifier, data: Data, lengths: np.ndarray, coverage: float | None = None
) -> pd.DataFrame:
    """One row a node: id, known label if any, role in the split if there is one, predicted class, probability,
    margin to the second class, and with ``coverage`` the set of likely classes, the likeliest first."""
    data = complete(data)
    ranked = np.sort(classifier.probabilities(lengths), axis=1)
    columns: dict[str, Any] = {
        "id": data.node_ids,
        "label": [data.class_names[label] if label >= 0 else "" for label in data.y.tolist()],
        "split": roles(data),
        "predicted": classifier.classes_.astype(str)[lengths.argmax(axis=1)],
        "probability": ranked[:, -1].astype(float).round(6),
        "margin": (ranked[:, -1] - ranked[:, -2]).astype(float).round(6),
        "set": None if coverage is None else named_sets(classifier, lengths, coverage),
    }
    return pd.DataFrame({key: column for key, column in columns.items() if column is not None})


def named_sets(classifier: NCGNNClassifier, lengths: np.ndarray, coverage: float) -> list[list[str]]:
    """The names of the classes in each node's set, the likeliest first."""
    inside = classifier.class_sets(lengths, coverage)
    order = np.argsort(-lengths, axis=1, kind="stable")
    names, counts = classifier.classes_.astype(str)[order], inside.sum(axis=1)  # the likeliest ones are inside
    return [row[:count].tolist() for row, count in zip(names, counts.tolist(), strict=True)]


def roles(data: Data) -> list[str] | None:
    """``train``, ``val``, ``test``, ``calibration`` or nothing for each node of a graph with one split; ``None`` for
    other graphs."""
    masks = {key: data.get(f"{key}_mask") for key in PARTS}
    if any(mask is None or mask.dim() != 1 for mask in masks.values()):
        return None
    if data.get("calibration_mask") is not None:
        masks["calibration"] = data.calibration_mask
    out = np.full(data.num_nodes, "", dtype="U11")
    for key, mask in masks.items():
        out[mask.numpy()] = key
    return list(out.tolist())
