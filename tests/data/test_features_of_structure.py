import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from ncgnn.data import complete
from ncgnn.data.structure import scaled, structure, told


@pytest.fixture(scope="module")
def graph() -> nx.Graph:
    made = nx.barabasi_albert_graph(60, 3, seed=0)
    made.add_nodes_from([60, 61])  # without edges
    return made


def test_columns_are_those_of_networkx(graph):
    columns = structure(from_networkx(graph).edge_index, 62)
    np.testing.assert_allclose(np.expm1(columns["degree (log)"]), [degree for _, degree in graph.degree()])
    np.testing.assert_allclose(columns["clustering"], list(nx.clustering(graph).values()))
    ranks = np.array(list(nx.pagerank(graph, tol=1e-12, max_iter=1000).values()))
    np.testing.assert_allclose(np.exp(columns["PageRank (log)"]) / 62, ranks, rtol=1e-3)
    assert sum(name.startswith("position ") for name in columns) == 8


def test_positions_tell_parts_of_a_graph_apart():
    columns = structure(from_networkx(nx.barbell_graph(10, 0)).edge_index, 20)
    side = np.sign(columns["position 1"])
    assert side[0] * side[-1] == -1
    assert (side[:10] == side[0]).all()


def test_the_same_graph_has_the_same_columns(graph):
    first, second = (structure(from_networkx(graph).edge_index, 62) for _ in range(2))
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_tiny_graphs_and_graphs_without_edges_work(nodes):
    x = scaled(structure(torch.empty(2, 0, dtype=torch.int64), nodes))
    assert x.shape == (nodes, 3)
    assert torch.isfinite(x).all()


def test_a_graph_without_features_gets_them_and_says_so(graph):
    bare = Data(edge_index=from_networkx(graph).edge_index, num_nodes=62)
    with pytest.warns(UserWarning, match="the nodes have no features: made features from the edges: degree, PageRank"):
        data = complete(bare)
    assert data.feature_names[:3] == ["degree (log)", "PageRank (log)", "clustering"]
    torch.testing.assert_close(data.x.mean(dim=0), torch.zeros(11), atol=1e-5, rtol=0)
    assert bare.x is None


def test_it_is_told_how_many_positions_there_are():
    assert told({"clustering": np.ones(3)}).endswith("and 0 of position")
