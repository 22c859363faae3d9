"""Which nodes a model was trained on. Its run folder knows."""

import json
from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch_geometric.data import Data

from ncgnn.data import complete
from ncgnn.data.fingerprint import fingerprint
from ncgnn.data.graph import PARTS
from ncgnn.errors import InputError

_AGAIN = "train again, or put the model file into a folder of its own"


def with_split_of_run(data: Data, model: Path) -> Data:
    """The graph with the split that the model was trained on; as it is where the folder of the model tells none, or
    tells it of another graph.

    Later tables of the same graph hold the nodes it was trained on, known by their ids; labelled nodes that are new
    belong to the test.
    """
    folder = model if model.is_dir() else model.parent
    data = complete(data)
    if not (folder / "run.json").is_file():
        return data
    is_same = _graph_of_run(folder / "run.json") == fingerprint(data)
    earlier = _predictions_of_run(folder / "predictions.csv")
    roles = earlier["split"] if is_same else _later_roles(data, earlier.set_index("id")["split"])
    if roles is None:
        return data
    out = copy(data)
    for role in (*PARTS, *(["calibration"] if "calibration" in set(roles) else [])):
        out[f"{role}_mask"] = torch.from_numpy((roles == role).to_numpy(copy=True))
    return out


def _later_roles(data: Data, earlier: pd.Series) -> pd.Series | None:
    """None where it is no later state of the graph: without tables ids are numbers, which any graph has."""
    if data.get("encoding") is None or not set(earlier.index[earlier == "train"]) <= set(data.node_ids):
        return None
    roles = earlier.reindex(data.node_ids)
    is_new = roles.isna().to_numpy()
    roles[is_new] = np.where(data.y.numpy()[is_new] >= 0, "test", "")
    return roles


def _predictions_of_run(file: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(file, usecols=["id", "split"], dtype=str, keep_default_na=False)
    except (OSError, ValueError):
        raise InputError(f"{file}: does not tell the split of the run: {_AGAIN}") from None


def _graph_of_run(file: Path) -> str:
    try:
        return str(json.loads(file.read_text("utf-8"))["graph"]["fingerprint"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{file}: does not describe a run: {_AGAIN}") from None
