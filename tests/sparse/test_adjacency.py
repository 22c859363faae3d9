import numpy as np
import pytest
import torch

from ncgnn.sparse import normalized_adjacency


def test_a_path_of_three_nodes_by_hand():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    half, third, mixed = 1 / 2, 1 / 3, 1 / np.sqrt(6)
    expected = [[half, mixed, 0], [mixed, third, mixed], [0, mixed, half]]
    np.testing.assert_allclose(normalized_adjacency(edges, 3).toarray(), expected)


def test_an_isolated_node_listens_to_itself_alone():
    a = normalized_adjacency(torch.zeros(2, 0, dtype=torch.int64), 2)
    np.testing.assert_array_equal(a.toarray(), np.eye(2))


def test_a_self_loop_in_the_edges_changes_nothing():
    plain = normalized_adjacency(torch.tensor([[0, 1], [1, 0]]), 2)
    looped = normalized_adjacency(torch.tensor([[0, 1, 1], [1, 0, 1]]), 2)
    np.testing.assert_array_equal(plain.toarray(), looped.toarray())


def test_a_repeated_edge_equals_a_weight_of_two():
    repeated = normalized_adjacency(torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0]]), 2)
    weighted = normalized_adjacency(torch.tensor([[0, 1], [1, 0]]), 2, torch.tensor([2.0, 2.0]))
    np.testing.assert_array_equal(repeated.toarray(), weighted.toarray())


def test_the_target_of_an_edge_listens_to_its_source():
    a = normalized_adjacency(torch.tensor([[0], [1]]), 2).toarray()
    assert a[1, 0] > 0
    assert a[0, 1] == 0


@pytest.mark.parametrize(
    ("edges", "weight", "message"),
    [
        ([[0], [2]], None, "contains node 2, but there are 2 nodes"),
        ([[-1], [0]], None, "contains node -1"),
        ([[0, 1]], None, r"shape \[2, edges\]"),
        ([[0.0], [1.0]], None, "integers"),
        ([[0], [1]], [1.0, 2.0], "1 edges"),
        ([[0], [1]], [-1.0], "not negative"),
        ([[0], [1]], [float("nan")], "finite"),
    ],
)
def test_edges_that_make_no_sense_are_refused(edges, weight, message):
    weight = None if weight is None else torch.tensor(weight)
    with pytest.raises(ValueError, match=message):
        normalized_adjacency(torch.tensor(edges), 2, weight)
