import numpy as np
import torch

from ncgnn.experiments.figures.ego import adjacency, ego_tables, filter_row, gcn_row, strongest
from ncgnn.experiments.figures.models import Shown
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.nn import NCGNN
from ncgnn.sparse import normalized_adjacency


def test_layers_of_a_gcn_hear_the_powers_of_the_adjacency(path):
    a = normalized_adjacency(path.edge_index, 6).toarray()
    np.testing.assert_allclose(gcn_row(path, 2, 1), a[2])
    np.testing.assert_allclose(gcn_row(path, 2, 3), np.linalg.matrix_power(a, 3)[2])


def test_a_row_of_the_filter_is_the_sum_over_hops(path):
    path.train_mask = torch.arange(6) < 4
    path.val_mask = ~path.train_mask
    settings = Config(hops=[1, 3], num_capsules=2, primary_channels=4, epochs=3)
    inputs = MODEL.prepare(PreparedGraph.of(path), settings)
    module = MODEL.fit(inputs, path, settings).module
    shown = Shown(MODEL, module, inputs, settings, np.empty((6, 2)), {})
    assert isinstance(module, NCGNN)
    xi = module.filter.coefficients().detach().numpy()
    a = normalized_adjacency(path.edge_index, 6).toarray()
    expected = xi[1] * a + xi[3] * np.linalg.matrix_power(a, 3)
    np.testing.assert_allclose(filter_row(shown, 4), expected[4], atol=1e-6)


def test_edges_go_both_ways_and_no_node_is_its_own_neighbour(path):
    path.edge_index = torch.tensor([[0, 1, 1], [1, 1, 2]])
    assert adjacency(path).toarray()[:3, :3].tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_the_strongest_come_first_and_equal_ones_by_number():
    weights = np.array([0.2, 0.9, 0.3, 0.2, 0.0])
    assert strongest(weights, 1).tolist() == [2, 0, 3]
    assert strongest(weights, 1, top=2).tolist() == [2, 0]
    assert strongest(weights, 4, top=1).tolist() == [1]


def test_surroundings_have_distances_and_the_edges_inside(path):
    weights = {"near": np.array([0.5, 0, 0.5, 0, 0, 0.1]), "far": np.array([0, 0, 0, 0, 1.0, 0])}
    nodes, edges = ego_tables(path, 1, weights)
    near, far = nodes[nodes["panel"] == "near"], nodes[nodes["panel"] == "far"]
    assert near["node"].tolist() == ["1", "0", "2", "5"]
    assert near["distance"].tolist() == [0, 1, 1, 1]
    assert near["class"].tolist() == ["0", "0", "1", "0"]
    assert (far["node"].tolist(), far["distance"].tolist()) == (["1", "4"], [0, 3])
    assert set(map(frozenset, edges[["source", "target"]].to_numpy().tolist())) == {
        frozenset(pair) for pair in ("10", "12", "15")
    }
    assert set(edges["panel"]) == {"near"}
