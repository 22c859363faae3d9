"""Protocols: the graph, the splits and the seeds of each cell."""

import hashlib
import re
from copy import copy
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data import complete, load_dataset, split_per_class, usual_split
from ncgnn.data.fingerprint import fingerprint
from ncgnn.data.graph import SPLITS
from ncgnn.data.named.registry import find_info, usual_rule
from ncgnn.experiments.cells import GCN_TUNED, RIVALS, TUNED, Cell

Protocol = Literal["paper", "core", "quick"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


def plan(cell: Cell, protocol: Protocol) -> list[tuple[int, int]]:
    """The runs of a cell, as pairs of split and seed."""
    return [(split, seed) for split in range(_splits(cell)) for seed in range(_seeds(cell, protocol))]


def draw_split(data: Data, cell: Cell, number: int) -> Data:
    """Split ``number`` of a cell; the same for all models of a table."""
    per_class = re.fullmatch(r"(\d+) per class", cell.setting)
    return split_per_class(data, int(per_class[1]), 500, number) if per_class else usual_split(data, number)


def fulfilled(cell: Cell, done: set[tuple[int, int]]) -> Protocol | None:
    """The largest protocol with all runs finished."""
    return next((protocol for protocol in PROTOCOLS if done.issuperset(plan(cell, protocol))), None)


def _splits(cell: Cell) -> int:
    if cell.has_one_split:
        return 1
    return 5 if usual_rule(cell.dataset) == "20 per class" else 10


def _seeds(cell: Cell, protocol: Protocol) -> int:
    """The rivals, of which there are many, have fewer runs than NCGNN and its controls."""
    if protocol == "quick":
        return 1
    if protocol == "paper" or cell.is_synthetic:
        return 10
    if cell.table == "fig4":
        return 5
    if cell.model in _RUN_LESS or cell.table == "ablation":
        return 1 if cell.hops or _splits(cell) == 10 else 2
    info = find_info(cell.dataset)
    return 10 if info is not None and info.has_few_test_nodes else 2


_RUN_LESS = {*RIVALS, *TUNED.values()} - {GCN_TUNED}


def without_edges(data: Data, share: float, seed: int) -> Data:
    """The graph without a share of its edges, drawn at random; both directions of an edge are drawn together."""
    if not share:
        return data
    source, target = data.edge_index
    ends = torch.stack([torch.minimum(source, target), torch.maximum(source, target)])
    pairs, pair = ends.unique(dim=1, return_inverse=True)
    number = pairs.shape[1]
    order = torch.from_numpy(np.random.default_rng(seed).permutation(number))
    is_kept = torch.ones(number, dtype=torch.bool)
    is_kept[order[: round(share * number)]] = False
    out = copy(data)
    out.edge_index = data.edge_index[:, is_kept[pair]]
    if data.get("edge_weight") is not None:
        out.edge_weight = data.edge_weight[is_kept[pair]]
    return out


def graph(name: str) -> Data:
    return _loaded(name)[0]


def version_at_hand(name: str) -> str:
    """Twelve digits that identify features, edges, labels and published splits.

    The name is not enough: Syn-Cora uses Cora's features if Cora is available, and generated ones otherwise.
    """
    return _loaded(name)[1]


@lru_cache(maxsize=1)  # runs on the same graph are consecutive
def _loaded(name: str) -> tuple[Data, str]:
    data = complete(load_dataset(name))
    data.name = name
    digest = hashlib.sha256(fingerprint(data).encode())
    for key in SPLITS:
        if key in data:
            digest.update(data[key].numpy().tobytes())
    return data, digest.hexdigest()[:12]
