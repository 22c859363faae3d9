"""Which labelled nodes train, validate and test. Unlabelled nodes are in no mask."""

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

FEWEST_ASIDE = 20  # the accuracy among fewer is known to 10 points at best
MOST_ASIDE = 10_000  # the accuracy among so many is known to half a point; more would not help


def split_per_class(data: Data, train: int = 20, val: int = 500, seed: int = 0) -> Data:
    """The paper's protocol: ``train`` nodes of each class, ``val`` others for validation, the rest for test."""
    if train < 1 or val < 0:
        raise InputError(f"train must be at least 1 and val at least 0, not train={train} and val={val}")
    y, order = _labelled(data, seed)
    _check_classes(data, y, train)
    chosen = np.concatenate([order[y[order] == c][:train] for c in range(num_classes(data))])
    rest = order[~np.isin(order, chosen)]
    if len(rest) < val:
        raise InputError(
            f"val={val} validation nodes were asked, but only {len(rest)} labelled nodes are left after training takes"
            f" {len(chosen)}: ask for fewer"
        )
    return _with_masks(data, chosen, rest[:val], rest[val:])


def split_fractions(data: Data, train: float = 0.25, val: float = 0.25, seed: int = 0) -> Data:
    """Random shares of the labelled nodes for training and validation, the rest for test; classes are not balanced."""
    _check_shares(train, val)
    y, order = _labelled(data, seed)
    _check_two(len(np.unique(y[order])))
    first, second = round(train * len(order)), round((train + val) * len(order))
    if first == 0:
        raise InputError(f"train={train} of {len(order)} labelled nodes is no node: ask for a larger share")
    return _with_masks(data, order[:first], order[first:second], order[second:])


def split_stratified(data: Data, train: float = 0.6, val: float = 0.2, seed: int = 0) -> Data:
    """Shares of the labelled nodes of each class, at least one of each for training, the rest for test."""
    _check_shares(train, val)
    y, order = _labelled(data, seed)
    present = np.unique(y[order])  # a class may have a name and no node
    _check_two(len(present))
    parts: list[list[np.ndarray]] = [[], [], []]
    for c in present:
        members = order[y[order] == c]
        first = max(1, round(train * len(members)))
        ends = [first, max(first, round((train + val) * len(members)))]
        for part, nodes in zip(parts, np.split(members, ends), strict=True):
            part.append(nodes)
    if not sum(map(len, parts[1])):
        raise InputError(f"val={val} of {len(order)} labelled nodes is no node: label more, or ask for a larger share")
    return _with_masks(data, *(np.concatenate(part) for part in parts))


def usual_split(data: Data, seed: int = 0) -> Data:
    """The split that is usual for a graph: its published split number ``seed`` where it has any; 25/25/50 % on
    Syn-Cora and 20 nodes a class with 500 for validation on the citation and Amazon graphs, as in the paper; else, and
    for tables whatever their name, 60/20/20 % of each class."""
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
    """Split number ``index`` (from 0) of those that were published with the graph."""
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
    """How many splits were published with the graph."""
    return min(mask.shape[1] for mask in _published_masks(data)) if all(key in data for key in SPLITS) else 0


def set_aside(data: Data, share: float = 0.5, seed: int = 0) -> Data:
    """Move a random share of the validation nodes to ``calibration_mask``.

    What validation chose was chosen to look good on its nodes. These others had no say in it, so that they tell how
    often the model is right elsewhere.
    """
    if not 0 < share < 1:
        raise InputError(f"the share of validation nodes to set aside must be above 0 and below 1, not {share}")
    nodes = np.flatnonzero(data.val_mask.numpy())
    count = min(round(share * len(nodes)), MOST_ASIDE)
    if count < FEWEST_ASIDE:
        least = ceil(100 * FEWEST_ASIDE / max(len(nodes), 1)) / 100
        larger = f" set a share of {least} aside," if least <= 0.5 else ""
        raise InputError(
            f"{share} of {len(nodes)} validation nodes is {count}, and calibration needs {FEWEST_ASIDE}: no honest"
            f" probability can be given;{larger} have {ceil(FEWEST_ASIDE / share)} validation nodes, or"
            " set none aside",
            "fractions",
            "val",
        )
    chosen = torch.from_numpy(np.random.default_rng(seed).permutation(nodes)[:count])
    out = copy(data)
    out.val_mask, out.calibration_mask = data.val_mask.clone(), torch.zeros_like(data.val_mask)
    out.val_mask[chosen], out.calibration_mask[chosen] = False, True
    return out


def hide_test_labels(data: Data) -> Data:
    """The graph as training may see it: with the labels of training and validation nodes alone."""
    out = copy(data)
    out.y = torch.where(data.train_mask | data.val_mask, data.y, -1)
    out.test_mask = torch.zeros_like(data.test_mask)
    return out


def nodes_to_test(data: Data) -> Tensor:
    """The mask of the test nodes: of none where the graph has no such mask, which training does not need."""
    mask: Tensor | None = data.get("test_mask")
    return torch.zeros_like(data.val_mask) if mask is None else mask


def judged_nodes(data: Data) -> Tensor:
    """The mask of the nodes that tell how good a model is: those to test or, if there are none, to validate."""
    tested = nodes_to_test(data)
    mask: Tensor = tested if tested.any() else data.val_mask
    return mask


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


def _published_masks(data: Data) -> list[Tensor]:
    return [data[key].reshape(data.num_nodes, -1) for key in SPLITS]


def _labelled(data: Data, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The labels, and the labelled nodes in random order."""
    y = np.full(data.num_nodes, -1) if data.y is None else data.y.numpy()
    return y, np.random.default_rng(seed).permutation(np.flatnonzero(y >= 0))


def _check_shares(train: float, val: float) -> None:
    if not (0 < train < 1 and 0 <= val < 1 and train + val <= 1):
        raise InputError(f"train and val must be shares with train + val <= 1, not train={train} and val={val}")


def _check_two(classes: int) -> None:
    if classes < 2:
        raise InputError(f"labels of {several(classes, 'class')}: at least two are needed")


def _check_classes(data: Data, y: np.ndarray, train: int) -> None:
    classes = num_classes(data)
    _check_two(classes)
    sizes = np.bincount(y[y >= 0], minlength=classes)
    smallest = int(sizes.argmin())
    if sizes[smallest] < train:
        name = data.class_names[smallest] if "class_names" in data else smallest
        raise InputError(
            f"class {str(name)!r} has {sizes[smallest]} labelled nodes, but train={train} per class were asked:"
            f" ask for fewer or label more"
        )


def _with_masks(data: Data, *nodes: np.ndarray) -> Data:
    out = copy(data)
    for key, members in zip(SPLITS, nodes, strict=True):
        mask = torch.zeros(int(data.num_nodes or 0), dtype=torch.bool)
        mask[torch.from_numpy(members)] = True
        out[key] = mask
    return out
