"""Whether a graph can be trained on, and whether it has the features of a model."""

from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.errors import InputError


def check_features(names: np.ndarray, data: Data) -> None:
    """Whether the graph has the features, in this order."""
    if data.x.shape[1] != len(names):
        raise InputError(f"the model expects {len(names)} features, the graph has {data.x.shape[1]}")
    different = np.flatnonzero(names != np.array(data.feature_names, dtype=object))
    if different.size:
        i = different[0]
        raise InputError(
            f"the graph has other features than the model: {different.size} differ, the first is feature {i}, "
            f"{data.feature_names[i]!r} in the graph and {names[i]!r} in the model"
        )


def members(data: Data, key: str, mask: Any, may_be_empty: bool = False) -> np.ndarray:
    """The mask, after checking that it is a non-empty mask of labelled nodes."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (data.num_nodes,):
        raise InputError(f"{key} must be a mask over the nodes: create a split, or select one with published_split")
    if not mask.any() and not may_be_empty:
        raise InputError(f"{key} is empty: it needs at least one node")
    if (data.y[mask] < 0).any():
        raise InputError(f"{key} contains nodes without a label")
    return mask.cpu().numpy()


def check_split(data: Data) -> None:
    """Whether there are nodes to train and to validate, all of them labelled, and none has two parts."""
    given = [key for key in ("calibration_mask", "test_mask") if data.get(key) is not None]
    keys = ["train_mask", "val_mask", *given]
    parts = {key: members(data, key, data.get(key), may_be_empty=key == "test_mask") for key in keys}
    for (key, mask), (other, nodes) in combinations(parts.items(), 2):
        if (mask & nodes).any():
            raise InputError(f"{key} and {other} overlap: each node may be in one mask only")
    if len(data.y[data.train_mask].unique()) < 2:
        raise InputError("the training nodes belong to fewer than two classes")
