"""Boosted trees grown by scikit-learn or LightGBM, as arrays of nodes."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ncgnn.errors import InputError
from ncgnn.extras import install

Library = Literal["scikit-learn", "lightgbm"]
_SEEDS = {"scikit-learn": 2**32, "lightgbm": 2**31}  # they take smaller ones only

# fmt: off
_NODE = np.dtype([  # what is used of scikit-learn's nodes
    ("value", "f8"), ("feature_idx", "i8"), ("num_threshold", "f8"), ("missing_go_to_left", "?"), ("left", "i8"),
    ("right", "i8"), ("is_leaf", "?"), ("depth", "i8"),
])
# fmt: on


class Grown(NamedTuple):
    """Boosted trees.

    Attributes:
        rounds: the trees of each round, one for each class, or one if there are two; of each, its nodes.
        base: scores before the first round.
        classes: numbers of the classes.
        right: accuracy on validation nodes after each round.
    """

    rounds: list[list[np.ndarray]]
    base: np.ndarray
    classes: np.ndarray
    right: list[float]


def grow(
    library: Library, x: np.ndarray, y: np.ndarray, train: np.ndarray, val: np.ndarray, trees: int, leaf: int, seed: int
) -> Grown:
    """At most this many rounds, and at least this many training nodes per leaf."""
    grower = _by_lightgbm if library == "lightgbm" else _by_scikit_learn
    return grower(x, y, train, val, trees, leaf, seed % _SEEDS[library])


def _by_scikit_learn(
    x: np.ndarray, y: np.ndarray, train: np.ndarray, val: np.ndarray, trees: int, leaf: int, seed: int
) -> Grown:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=trees, min_samples_leaf=leaf, early_stopping=False, random_state=seed
    ).fit(x[train], y[train])
    right = [float(np.mean(predicted == y[val])) for predicted in model.staged_predict(x[val])]
    rounds = [[tree.nodes for tree in stage] for stage in model._predictors]
    return Grown(rounds, model._baseline_prediction.ravel(), model.classes_, right)


def _by_lightgbm(
    x: np.ndarray, y: np.ndarray, train: np.ndarray, val: np.ndarray, trees: int, leaf: int, seed: int
) -> Grown:
    try:
        import lightgbm
    except ImportError:
        raise InputError(f"library lightgbm is not installed: {install('lightgbm')}", "library") from None
    model = lightgbm.LGBMClassifier(
        n_estimators=trees, min_child_samples=leaf, random_state=seed, n_jobs=1, deterministic=True, verbose=-1
    ).fit(x[train], y[train])
    found, width = model.booster_.dump_model()["tree_info"], model.booster_.num_model_per_iteration()
    nodes = [_nodes(tree["tree_structure"]) for tree in found]
    rounds = [nodes[start : start + width] for start in range(0, len(nodes), width)]
    right = [float(np.mean(model.classes_[one] == y[val])) for one in _staged(model.booster_, x[val], len(rounds))]
    return Grown(rounds, np.zeros(width), model.classes_, right)


def _staged(booster: Any, x: np.ndarray, rounds: int) -> Iterator[np.ndarray]:
    """The places of the classes that are predicted after each round."""
    scores: Any = 0.0
    for number in range(rounds):
        scores = scores + booster.predict(x, start_iteration=number, num_iteration=1, raw_score=True)
        yield (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def _nodes(root: dict[str, Any]) -> np.ndarray:
    """LightGBM's nested nodes, one after another."""
    found: list[tuple[Any, ...]] = []
    _add(root, 0, found)
    return np.array(found, dtype=_NODE)


def _add(node: dict[str, Any], depth: int, found: list[tuple[Any, ...]]) -> int:
    """Append the node and those below it; returns its place."""
    place = len(found)
    if "split_feature" not in node:
        found.append((node["leaf_value"], 0, 0.0, False, place, place, True, depth))
        return place
    found.append(())
    left, right = (_add(node[side], depth + 1, found) for side in ("left_child", "right_child"))
    threshold = node["threshold"]
    # where no value was missing in training, LightGBM takes a missing one for zero
    goes_left = node["default_left"] if node["missing_type"] == "NaN" else threshold >= 0
    found[place] = (0.0, node["split_feature"], threshold, goes_left, left, right, False, depth)
    return place


def tree_arrays(rounds: Sequence[Sequence[np.ndarray]], parts: Sequence[str]) -> dict[str, np.ndarray]:
    """Padded trees [trees, nodes], and their depth; a leaf points to itself, whatever the feature."""
    trees = [tree for stage in rounds for tree in stage]
    most = max(map(len, trees))
    found: dict[str, np.ndarray] = {name: np.zeros((len(trees), most)) for name in parts}
    for number, nodes in enumerate(trees):
        own, is_leaf = np.arange(len(nodes)), nodes["is_leaf"].astype(bool)
        for name in parts:
            values = nodes[name]
            found[name][number, : len(nodes)] = np.where(is_leaf, own, values) if name in ("left", "right") else values
    for name in ("feature_idx", "left", "right"):
        found[name] = found[name].astype(np.int64)
    return found | {"depth": np.array(max(int(nodes["depth"].max()) for nodes in trees))}
