import torch
from torch_geometric.data import Data

from ncgnn.models.base.neighbours import plain_adjacency

ENDS = torch.tensor([[0, 1, 1, 1, 2, 0], [1, 0, 1, 2, 1, 1]])  # with a loop at 1, and 0 -> 1 twice


def test_rows_list_the_sources_without_loops_and_repeated_edges_add_up():
    a = plain_adjacency(Data(edge_index=ENDS, num_nodes=4))
    assert a.toarray().tolist() == [[0, 1, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_weights_are_kept_and_an_edge_of_weight_zero_is_none():
    weight = torch.tensor([0.5, 3, 9, 0, 2, 0.25])
    a = plain_adjacency(Data(edge_index=ENDS, edge_weight=weight, num_nodes=4))
    assert a.toarray().tolist() == [[0, 3, 0, 0], [0.75, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert a.nnz == 3
