"""Splits of labelled nodes into training, validation and test. Unlabelled nodes are in no mask."""

from copy import copy
from math import ceil

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.graph import PARTS, SPLITS, num_classes
from ncgnn.data.named.registry import usual_rule
from ncgnn.errors import InputError
from ncgnn.text import several

FEWEST_ASIDE = 20  # with fewer, accuracy is known to 10 points at best
MOST_ASIDE = 10_000  # with this many, accuracy is known to half a point; more would not help


def split_per_class(data: Data, train: int = 20, val: int = 500, seed: int = 0) -> Data:
    """The paper's protocol: ``train`` nodes per class for training, ``val`` others for validation, the rest to test."""
    if train < 1 or val < 0:
        raise InputError(f"train must be at least 1 and val at least 0, not train={train} and val={val}")
    y, order = _labelled(data, seed)
    _check_classes(data, y, train)
    chosen = np.concatenate([order[y[order] == c][:train] for c in range(num_classes(data))])
    rest = order[~np.isin(order, chosen)]
    if len(rest) < val:
        raise InputError(
            f"val={val} validation nodes were requested, but only {len(rest)} labelled nodes are left after training"
            f" takes {len(chosen)}: use fewer"
        )
    return _with_masks(data, chosen, rest[:val], rest[val:])


def split_fractions(data: Data, train: float = 0.25, val: float = 0.25, seed: int = 0) -> Data:
    """Random fractions of labelled nodes for training and validation, the rest for test; classes are not balanced."""
    _check_shares(train, val)
    y, order = _labelled(data, seed)
    _check_two(len(np.unique(y[order])))
    first, second = round(train * len(order)), round((train + val) * len(order))
    if first == 0:
        raise InputError(f"train={train} of {len(order)} labelled nodes rounds to zero: use a larger fraction")
    return _with_masks(data, order[:first], order[first:second], order[second:])


def split_stratified(data: Data, train: float = 0.6, val: float = 0.2, seed: int = 0) -> Data:
    """Fractions of the labelled nodes of each class, with at least one per class for training; the rest for test."""
    _check_shares(train, val)
    y, order = _labelled(data, seed)
    present = np.unique(y[order])  # a class may have a name but no nodes
    _check_two(len(present))
    parts: list[list[np.ndarray]] = [[], [], []]
    for c in present:
        members = order[y[order] == c]
        first = max(1, round(train * len(members)))
        ends = [first, max(first, round((train + val) * len(members)))]
        for part, nodes in zip(parts, np.split(members, ends), strict=True):
            part.append(nodes)
    if not sum(map(len, parts[1])):
        raise InputError(
            f"val={val} of {len(order)} labelled nodes rounds to zero: label more, or use a larger fraction"
        )
    return _with_masks(data, *(np.concatenate(part) for part in parts))


def usual_split(data: Data, seed: int = 0) -> Data:
    """The usual split of a graph: its published split number ``seed`` if it has any; 25/25/50 % on Syn-Cora and 20
    nodes per class with 500 for validation on the citation and Amazon graphs, as in the paper; otherwise, and always
    for tables, 60/20/20 % of each class."""
    name = "" if data.get("encoding") is not None else str(data.get("name", ""))
    if all(key in data for key in SPLITS):
        return published_split(data, seed)
    rule = usual_rule(name)
    if rule == "25/25/50":
        return split_fractions(data, 0.25, 0.25, seed)
    if rule == "20 per class":
        return split_per_class(data, 20, 500, seed)
    return split_stratified(data, seed=seed)


def published_split(data: Data, index: int) -> Data:
    """Split number ``index`` (from 0) of those published with the graph."""
    if any(key not in data for key in SPLITS):
        raise InputError(
            f"graph {data.get('name', '')!r} has no published split: draw one with split_per_class or split_fractions"
        )
    masks, count = _published_masks(data), num_published_splits(data)
    if not 0 <= index < count:
        raise InputError(f"split {index} does not exist: graph {data.get('name', '')!r} has splits 0 to {count - 1}")
    out = copy(data)
    for key, mask in zip(SPLITS, masks, strict=True):
        out[key] = mask[:, index].clone() & (data.y >= 0)
    return out


def num_published_splits(data: Data) -> int:
    """Number of splits published with the graph."""
    return min(mask.shape[1] for mask in _published_masks(data)) if all(key in data for key in SPLITS) else 0


def set_aside(data: Data, share: float = 0.5, seed: int = 0) -> Data:
    """Move a random fraction of the validation nodes to ``calibration_mask``.

    The model was selected to do well on the validation nodes. The held-out nodes were not used for this selection, so
    accuracy on them is unbiased.
    """
    if not 0 < share < 1:
        raise InputError(f"the fraction of validation nodes to hold out must be above 0 and below 1, not {share}")
    nodes = np.flatnonzero(data.val_mask.numpy())
    count = min(round(share * len(nodes)), MOST_ASIDE)
    if count < FEWEST_ASIDE:
        least = ceil(100 * FEWEST_ASIDE / max(len(nodes), 1)) / 100
        larger = f" hold out a fraction of {least}," if least <= 0.5 else ""
        raise InputError(
            f"{share} of {len(nodes)} validation nodes is {count}, but calibration needs at least {FEWEST_ASIDE}:"
            f"{larger} use at least {ceil(FEWEST_ASIDE / share)} validation nodes, or train without calibration",
            "fractions",
            "val",
        )
    chosen = torch.from_numpy(np.random.default_rng(seed).permutation(nodes)[:count])
    out = copy(data)
    out.val_mask, out.calibration_mask = data.val_mask.clone(), torch.zeros_like(data.val_mask)
    out.val_mask[chosen], out.calibration_mask[chosen] = False, True
    return out


def hide_test_labels(data: Data) -> Data:
    """The graph without test labels: only training and validation nodes keep their labels."""
    out = copy(data)
    out.y = torch.where(data.train_mask | data.val_mask, data.y, -1)
    out.test_mask = torch.zeros_like(data.test_mask)
    return out


def nodes_to_test(data: Data) -> Tensor:
    """The mask of test nodes; empty if the graph has none."""
    mask: Tensor | None = data.get("test_mask")
    return torch.zeros_like(data.val_mask) if mask is None else mask


def judged_nodes(data: Data) -> Tensor:
    """The mask of nodes to evaluate on: test nodes or, if there are none, validation nodes."""
    tested = nodes_to_test(data)
    mask: Tensor = tested if tested.any() else data.val_mask
    return mask


def roles(data: Data) -> list[str] | None:
    """``train``, ``val``, ``test``, ``calibration`` or "" for each node of a graph with one split, else ``None``."""
    masks = {key: data.get(f"{key}_mask") for key in PARTS}
    if any(mask is None or mask.dim() != 1 for mask in masks.values()):
        return None
    if data.get("calibration_mask") is not None:
        masks["calibration"] = data.calibration_mask
    out = np.full(data.num_nodes, "", dtype="U11")
    for key, mask in masks.items():
        out[mask.numpy()] = key
    return list(out.tolist())


def _published_masks(data: Data) -> list[Tensor]:
    return [data[key].reshape(data.num_nodes, -1) for key in SPLITS]


def _labelled(data: Data, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The labels, and the labelled nodes in random order."""
    y = np.full(data.num_nodes, -1) if data.y is None else data.y.numpy()
    return y, np.random.default_rng(seed).permutation(np.flatnonzero(y >= 0))


def _check_shares(train: float, val: float) -> None:
    if not (0 < train < 1 and 0 <= val < 1 and train + val <= 1):
        raise InputError(f"train and val must be fractions with train + val <= 1, not train={train} and val={val}")


def _check_two(classes: int) -> None:
    if classes < 2:
        raise InputError(f"{several(classes, 'class')} with labels: at least two are needed")


def _check_classes(data: Data, y: np.ndarray, train: int) -> None:
    classes = num_classes(data)
    _check_two(classes)
    sizes = np.bincount(y[y >= 0], minlength=classes)
    smallest = int(sizes.argmin())
    if sizes[smallest] < train:
        name = data.class_names[smallest] if "class_names" in data else smallest
        raise InputError(
            f"class {str(name)!r} has {sizes[smallest]} labelled nodes, but train={train} per class were requested:"
            f" use fewer or label more"
        )


def _with_masks(data: Data, *nodes: np.ndarray) -> Data:
    out = copy(data)
    for key, members in zip(SPLITS, nodes, strict=True):
        mask = torch.zeros(int(data.num_nodes or 0), dtype=torch.bool)
        mask[torch.from_numpy(members)] = True
        out[key] = mask
    return out


def redrawn(data: Data, seed: int) -> Data:
    """The graph with a resampled split: its training and validation nodes are pooled and divided again, with as many
    training nodes per class as before."""
    train, val, y = (data[key].numpy() for key in ("train_mask", "val_mask", "y"))
    order = np.random.default_rng(seed).permutation(np.flatnonzero(train | val))
    chosen = np.concatenate([order[y[order] == c][: int((train & (y == c)).sum())] for c in np.unique(y[train])])
    out = copy(data)
    out.train_mask, out.val_mask = torch.zeros_like(data.train_mask), torch.zeros_like(data.val_mask)
    out.train_mask[chosen] = True
    out.val_mask[order] = True
    out.val_mask[chosen] = False
    return out
