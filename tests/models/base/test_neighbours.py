import torch
from torch_geometric.data import Data

from ncgnn.models.base.neighbours import plain_adjacency, scaled_adjacency
from ncgnn.sparse import normalized_adjacency

ENDS = torch.tensor([[0, 1, 1, 1, 2, 0], [1, 0, 1, 2, 1, 1]])  # with a loop at 1, and 0 -> 1 twice


def test_rows_list_the_sources_without_loops_and_repeated_edges_add_up():
    a = plain_adjacency(Data(edge_index=ENDS, num_nodes=4))
    assert a.toarray().tolist() == [[0, 1, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_weights_are_kept_and_an_edge_of_weight_zero_is_none():
    weight = torch.tensor([0.5, 3, 9, 0, 2, 0.25])
    a = plain_adjacency(Data(edge_index=ENDS, edge_weight=weight, num_nodes=4))
    assert a.toarray().tolist() == [[0, 3, 0, 0], [0.75, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert a.nnz == 3


def test_scales_divide_by_degrees_of_rows_and_columns():
    data = Data(edge_index=torch.tensor([[0, 0, 1], [1, 2, 2]]), num_nodes=4)  # 0 -> 1, 0 -> 2, 1 -> 2
    scaled = {
        scale: torch.from_numpy(scaled_adjacency(data, scale, False).toarray()) for scale in ("rows", "ends", "degrees")
    }
    assert scaled["rows"].tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0]]
    torch.testing.assert_close(scaled["ends"][1, 0], torch.tensor(2**-0.5).double())
    torch.testing.assert_close(scaled["ends"][2, :2], torch.tensor([0.5, 2**-0.5]).double())
    torch.testing.assert_close(scaled["degrees"][2, :2], torch.tensor([0.0, 2**-0.5]).double())


def test_with_loops_and_without_directions_the_scales_are_the_normalised_adjacency():
    data = Data(edge_index=ENDS, num_nodes=4)
    data.edge_index = torch.cat([ENDS, ENDS.flip(0)], dim=1)
    expected = normalized_adjacency(data.edge_index, 4).toarray()
    for scale in ("ends", "degrees"):
        assert abs(scaled_adjacency(data, scale, True).toarray() - expected).max() < 1e-12
    assert abs(scaled_adjacency(data, "rows", True).sum(axis=1) - 1).max() < 1e-12
