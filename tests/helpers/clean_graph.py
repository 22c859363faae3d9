"""A graph in which nothing is wrong, to plant things in."""

from copy import copy

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, make_graph, merge_edges


def make_clean(num_nodes: int = 400, seed: int = 5) -> Data:
    """Four classes of equal size whose nodes mostly link among themselves, and features that help a little."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % 4)
    ring = np.stack([np.arange(num_nodes), np.roll(np.arange(num_nodes), -1)], axis=1)  # one component
    within = [rng.choice(np.flatnonzero(y == c), size=(num_nodes, 2)) for c in range(4)]
    edges, _ = merge_edges(np.concatenate([ring, *within]), num_nodes)
    x = rng.standard_normal((num_nodes, 12)).astype(np.float32)
    x[:, :4] += 1.5 * np.eye(4, dtype=np.float32)[y]
    return make_graph("clean", torch.from_numpy(x), both_directions(edges)[0], torch.from_numpy(y))


def undirected(data: Data) -> np.ndarray:
    """The edges, each once."""
    return merge_edges(data.edge_index.numpy().T, int(data.num_nodes))[0]


def with_edges(data: Data, pairs: np.ndarray) -> Data:
    """The graph with other edges."""
    out = copy(data)
    out.edge_index = both_directions(merge_edges(pairs, int(data.num_nodes))[0])[0]
    return out
