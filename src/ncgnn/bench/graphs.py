"""The graphs of the benchmarks: the settings of NCGNN on them, and a generated one of any size."""

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, make_graph, merge_edges
from ncgnn.data.named.registry import FAR, NEAREST, find_info
from ncgnn.models.ncgnn.config import Config

_PAPER = {"num_capsules": 8, "primary_channels": 64, "iterations": 3, "beta": 1.0, "dropout": 0.9}
_GENERATED = "generated"


def hops_of(name: str) -> int:
    """The attention filter takes the hops from 1 to this; fewer on the graphs that are larger or denser."""
    if name == _GENERATED:
        return NEAREST
    info = find_info(name)
    return FAR if info is None else info.measured_hops


def measured(hops: int, **others: int) -> Config:
    """The settings that are measured, which are the paper's, whatever the defaults are."""
    return Config.make(_PAPER | {"hops": hops} | others)


def random_graph(num_nodes: int, mean_degree: float = 10, num_features: int = 256, num_classes: int = 8) -> Data:
    """Edges between nodes drawn at random, dense features, and a split with a tenth of the nodes for training.

    Neither edges nor features know of the classes: made to measure time and memory, not accuracy.
    """
    rng = np.random.default_rng(0)
    pairs = rng.integers(num_nodes, size=(round(num_nodes * mean_degree / 2), 2))
    edges, _ = merge_edges(pairs, num_nodes)
    x = torch.from_numpy(rng.standard_normal((num_nodes, num_features), dtype=np.float32))
    y = torch.from_numpy(rng.permutation(np.arange(num_nodes) % num_classes))
    part = torch.from_numpy(rng.permutation(np.arange(num_nodes) % 10))
    data = make_graph(_GENERATED, x, both_directions(edges)[0], y)
    data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part > 1
    return data
