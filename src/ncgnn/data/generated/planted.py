"""A graph with known ground truth: which neighbours and features carry the signal of a class."""

from collections import Counter

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, feature_tensor, make_graph, merge_edges

COLOURS = ("red", "green", "blue", "yellow")

_CASES, _WITNESSES, _BYSTANDERS = 400, 80, 600
_OWN, _OTHER, _IDLE = 4, 1, 6  # links of a case: to witnesses of its class, of any class, and to bystanders
_GROUP, _NOISE, _LENGTH = 10, 60, 8  # words per class, noise words, words per node


def planted(seed: int = 0) -> Data:
    """Generate cases of four classes, linked to witnesses, which carry the signal of a class, and to bystanders.

    Only cases have labels. A case is linked to four witnesses of its class, one of any class, and six bystanders. Half
    of the words of a witness are from the group of its class, the other half are noise, like all words of cases and
    bystanders: for each class, only one kind of neighbour and one group of features carry the signal. A witness is
    linked to many cases and a bystander to few, so filters give bystanders larger weights.

    The ground truth is in ``node_group`` [N] and ``feature_group`` [f]: the class whose signal a node or feature
    carries, -1 for none.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(_CASES) % len(COLOURS))
    node_group = np.full(_CASES + _WITNESSES + _BYSTANDERS, -1)
    witnesses = slice(_CASES, _CASES + _WITNESSES)
    node_group[witnesses] = np.arange(_WITNESSES) % len(COLOURS)
    edges, _ = merge_edges(_links(y, node_group, rng), len(node_group))
    feature_group = np.repeat([*range(len(COLOURS)), -1], [_GROUP] * len(COLOURS) + [_NOISE])
    return make_graph(
        "planted",
        feature_tensor(_words(node_group, feature_group, rng)),
        both_directions(edges)[0],
        torch.from_numpy(np.concatenate([y, np.full(_WITNESSES + _BYSTANDERS, -1)])),
        class_names=COLOURS,
        feature_names=_numbered([COLOURS[group] if group >= 0 else "noise" for group in feature_group]),
        node_ids=_numbered(_kinds(node_group)),
        node_group=torch.from_numpy(node_group),
        feature_group=torch.from_numpy(feature_group),
    )


def _links(y: np.ndarray, node_group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Edges (case, other), shape (edges, 2)."""
    every, bystanders = np.flatnonzero(node_group >= 0), np.arange(_CASES + _WITNESSES, len(node_group))
    idle = rng.permutation(np.resize(bystanders, _CASES * _IDLE)).reshape(_CASES, _IDLE)  # so that none is unused
    edges = []
    for case, colour in enumerate(y):
        own = rng.choice(np.flatnonzero(node_group == colour), _OWN, replace=False)
        others = [*own, *rng.choice(every, _OTHER), *idle[case]]
        edges += [(case, other) for other in others]
    return np.array(edges)


def _words(node_group: np.ndarray, feature_group: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    """Binary bags of words."""
    x = np.zeros((len(node_group), len(feature_group)), np.float32)
    noise = np.flatnonzero(feature_group < 0)
    for row, group in zip(x, node_group, strict=True):
        own = _LENGTH // 2 if group >= 0 else 0
        row[rng.choice(noise, _LENGTH - own, replace=False)] = 1
        row[rng.choice(np.flatnonzero(feature_group == group), own, replace=False)] = 1
    return sp.csr_array(x)


def _kinds(node_group: np.ndarray) -> list[str]:
    witnesses = [f"{COLOURS[group]}-witness" for group in node_group[_CASES : _CASES + _WITNESSES]]
    return ["case"] * _CASES + witnesses + ["bystander"] * _BYSTANDERS


def _numbered(names: list[str]) -> list[str]:
    """Number equal names: each name with its index within its group."""
    seen = Counter[str]()
    numbered = []
    for name in names:
        numbered.append(f"{name}-{seen[name]}")
        seen[name] += 1
    return numbered
