from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from ncgnn.models.geom_gcn.by_isomap import hops, isomap
from ncgnn.models.geom_gcn.by_poincare import distance, poincare, slope
from ncgnn.models.geom_gcn.by_skip_gram import skip_gram
from ncgnn.models.geom_gcn.by_struc2vec import candidates, rings, struc2vec, warped


def matrix(graph: nx.Graph) -> sp.csr_array:
    return sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))


def apart(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, None] - places, axis=2)


def test_isomap_of_a_path_is_the_path():
    """Distances on a path are those on a line, so the plane shows them exactly."""
    places = isomap(matrix(nx.path_graph(8)))
    expected = np.abs(np.arange(8)[:, None] - np.arange(8))
    np.testing.assert_allclose(apart(places), expected, atol=1e-3)


def test_nodes_without_a_path_are_one_hop_further_than_others():
    found = hops(matrix(nx.disjoint_union(nx.path_graph(4), nx.path_graph(2))))
    assert found[0, 3] == 3
    assert (found[:4, 4:] == 4).all()


def test_the_slope_is_the_derivative_of_the_distance():
    for u, v in (([0.1, 0.2], [-0.3, 0.4]), ([0.7, 0.1], [0.6, 0.2])):
        start, other = torch.tensor(u, dtype=torch.float64, requires_grad=True), torch.tensor(v, dtype=torch.float64)
        gap = (start - other).square().sum()
        d = torch.acosh(1 + 2 * gap / ((1 - start.square().sum()) * (1 - other.square().sum())))
        d.backward()
        assert distance(np.array(u), np.array(v)) == pytest.approx(d.item())
        np.testing.assert_allclose(slope(np.array(u), np.array(v)), start.grad.numpy(), rtol=1e-6)


def test_neighbours_are_close_in_the_poincare_disk():
    graph = nx.balanced_tree(3, 3)
    places = poincare(matrix(graph))
    assert (np.linalg.norm(places, axis=1) < 1).all()
    lengths = apart(places)
    is_edge = nx.to_numpy_array(graph) > 0
    assert lengths[is_edge].mean() < 0.7 * lengths[~is_edge].mean()


def test_rings_are_degrees_at_an_exact_distance():
    """A path of four: two hops from an end is one inner node of degree 2, from an inner node one end."""
    starts, degrees, counts = rings(matrix(nx.path_graph(4)), 2)
    assert [degrees[a:b].tolist() for a, b in pairwise(starts)] == [[2], [1], [1], [2]]
    assert counts.tolist() == [1, 1, 1, 1]


def test_warping_matches_alike_degrees_for_nothing():
    one = np.array([1.0, 2.0, 4.0]), np.array([3.0, 1.0, 2.0])
    other = np.array([1.0, 4.0]), np.array([2.0, 5.0])
    assert warped(*one, *one) == 0
    assert warped(*one, *other) == warped(*other, *one) == 1.0 * 2  # 2 is matched with 1, as often as that occurs
    assert warped(*one, np.empty(0), np.empty(0)) == 6


def test_candidates_have_similar_degrees():
    pairs = candidates(np.array([5, 1, 3, 2, 4, 6, 7, 8]))
    assert (1, 3) in {tuple(pair) for pair in pairs}  # degrees 1 and 2
    assert (1, 7) not in {tuple(pair) for pair in pairs}  # degrees 1 and 8


def test_struc2vec_brings_nodes_of_one_role_together():
    """Two stars far apart: centres are like each other, leaves are like leaves of the other star."""
    graph = nx.disjoint_union(nx.star_graph(12), nx.star_graph(12))
    graph = nx.disjoint_union(graph, nx.star_graph(12))
    lengths = apart(struc2vec(matrix(graph)))
    centres = [0, 13, 26]
    leaves = [node for node in range(39) if node not in centres]
    between = lengths[np.ix_(centres, leaves)].mean()
    assert lengths[np.ix_(centres, centres)].sum() / 6 < between


def test_words_of_one_text_are_close():
    walks = np.repeat(np.array([[0, 1, 2] * 8, [3, 4, 5] * 8]), 400, axis=0)
    lengths = apart(skip_gram(walks, 6))
    within = lengths[:3, :3].sum() / 6 + lengths[3:, 3:].sum() / 6
    assert within / 2 < lengths[:3, 3:].mean()


@pytest.mark.parametrize("embedding", [isomap, poincare, struc2vec])
def test_an_embedding_is_the_same_each_time(embedding):
    a = matrix(nx.karate_club_graph())
    assert np.array_equal(embedding(a), embedding(a))
