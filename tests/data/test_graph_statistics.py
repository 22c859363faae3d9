import math

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import homophily

from ncgnn.data import statistics
from ncgnn.data.graph import both_directions, make_graph, merge_edges


def path_graph(y: list[int], extra: int = 0) -> Data:
    """Nodes in a row, and ``extra`` nodes without an edge."""
    steps = np.arange(len(y) - 1)
    edges, _ = merge_edges(np.stack([steps, steps + 1], axis=1), len(y) + extra)
    labels = torch.tensor(y + [0] * extra)
    return make_graph("path", torch.ones(len(labels), 3), both_directions(edges)[0], labels)


def test_counts_of_a_path_with_two_isolated_nodes():
    found = statistics(path_graph([0, 0, 1, 2], extra=2))
    assert (found.nodes, found.edges, found.features, found.classes, found.isolated) == (6, 3, 3, 3, 2)


def test_homophily_of_a_path_by_hand():
    found = statistics(path_graph([0, 0, 0, 1]))
    assert found.edge_homophily == pytest.approx(2 / 3)
    assert found.node_homophily == pytest.approx((1 + 1 + 1 / 2 + 0) / 4)


def test_unlabelled_and_isolated_nodes_do_not_count_in_homophily():
    labelled, more = statistics(path_graph([0, 0, 0, 1])), statistics(path_graph([0, 0, 0, 1, -1, -1], extra=1))
    assert (more.edge_homophily, more.node_homophily) == (labelled.edge_homophily, labelled.node_homophily)


def test_homophily_equals_that_of_pyg():
    rng = np.random.default_rng(0)
    ring = np.arange(60)  # a ring under the random edges: no node is isolated
    pairs = np.concatenate([np.stack([ring, (ring + 1) % 60], axis=1), rng.integers(0, 60, (100, 2))])
    edge_index, _ = both_directions(merge_edges(pairs, 60)[0])
    data = make_graph("random", torch.ones(60, 1), edge_index, torch.from_numpy(rng.integers(0, 4, 60)))
    found = statistics(data)
    assert found.edge_homophily == pytest.approx(homophily(edge_index, data.y, method="edge"), abs=1e-6)
    assert found.node_homophily == pytest.approx(homophily(edge_index, data.y, method="node"), abs=1e-6)


def test_homophily_of_a_graph_without_labels_is_nan():
    found = statistics(path_graph([-1, -1, -1]))
    assert math.isnan(found.edge_homophily)
    assert math.isnan(found.node_homophily)
    assert found.classes == 0


def test_plain_pyg_data_is_measured_too():
    found = statistics(Data(edge_index=torch.tensor([[0, 1, 1], [1, 0, 1]]), num_nodes=3))
    assert (found.nodes, found.edges, found.features, found.classes, found.isolated) == (3, 1, 0, 0, 1)
