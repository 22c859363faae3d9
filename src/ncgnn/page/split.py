"""Which nodes a model was trained on. Its run folder knows."""

import json
from copy import copy
from pathlib import Path

import pandas as pd
import torch
from torch_geometric.data import Data

from ncgnn.data import complete
from ncgnn.errors import InputError
from ncgnn.train.folder import fingerprint


def with_split_of_run(data: Data, model: Path) -> Data:
    """The graph with the split that the model was trained on; as it is where the folder of the model tells none, or
    tells it of another graph."""
    folder = model if model.is_dir() else model.parent
    data = complete(data)
    if not (folder / "run.json").is_file() or _graph_of_run(folder / "run.json") != fingerprint(data):
        return data
    roles = pd.read_csv(folder / "predictions.csv", usecols=["split"], dtype=str, keep_default_na=False)["split"]
    out = copy(data)
    for role in ("train", "val", "test", *(["calibration"] if "calibration" in set(roles) else [])):
        out[f"{role}_mask"] = torch.from_numpy((roles == role).to_numpy(copy=True))
    return out


def _graph_of_run(file: Path) -> str:
    try:
        return str(json.loads(file.read_text("utf-8"))["graph"]["fingerprint"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{file}: does not describe a run: train again, or name the model file in a folder") from None
