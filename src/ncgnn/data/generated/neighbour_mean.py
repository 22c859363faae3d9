"""A graph whose classes are known exactly, from neighbours alone: those of a mean."""

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data.generated.unstructured import GENERATED
from ncgnn.data.graph import both_directions, make_graph, merge_edges

_LINKS = 3  # that each node draws
_NOISE = 3
_CLASSES = ("lowest", "low", "high", "highest")


def neighbour_mean(num_nodes: int = 1000, seed: int = 0) -> Data:
    """Generate nodes with numbers, the first of which decides the classes of their neighbours.

    A node's class is the quarter of the nodes that the mean of ``signal`` over its neighbours falls into. Its own
    numbers say nothing of it, nor do the classes of its neighbours, since edges are drawn at random. The middle classes
    lie between the others, so a linear model of the mean cannot tell them apart.
    """
    rng = np.random.default_rng(seed)
    pairs = np.stack(
        [np.repeat(np.arange(num_nodes), _LINKS), rng.integers(num_nodes, size=num_nodes * _LINKS)], axis=1
    )
    edges, _ = merge_edges(pairs, num_nodes)
    x = rng.standard_normal((num_nodes, 1 + _NOISE)).astype(np.float32)
    edge_index = both_directions(edges)[0]
    source, target = edge_index.numpy()
    degree = np.bincount(target, minlength=num_nodes).clip(1)
    mean = np.bincount(target, weights=x[source, 0], minlength=num_nodes) / degree
    y = np.digitize(mean, np.quantile(mean, (0.25, 0.5, 0.75)))
    names = ["signal", *(f"noise-{number}" for number in range(_NOISE))]
    return make_graph(
        GENERATED, torch.from_numpy(x), edge_index, torch.from_numpy(y), class_names=_CLASSES, feature_names=names
    )
