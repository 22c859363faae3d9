"""A graph of any size whose edges and features say nothing about the classes."""

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, make_graph, merge_edges

GENERATED = "generated"


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
    data = make_graph(GENERATED, x, both_directions(edges)[0], y)
    data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part > 1
    return data
