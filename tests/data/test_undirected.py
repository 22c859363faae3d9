import pytest
import torch
from torch_geometric.data import Data

from ncgnn.data import read_graph
from ncgnn.errors import InputError

X, OUTSIDE = torch.eye(3), torch.tensor([[0], [3]])


def test_a_graph_of_pyg_gets_the_other_directions_and_names():
    data = read_graph(Data(x=X, edge_index=torch.tensor([[0, 0, 2, 1], [1, 1, 1, 1]])))
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert data.node_ids == data.feature_names == ["0", "1", "2"]


def test_weights_of_both_directions_count_once_where_they_agree_and_are_summed_where_they_differ():
    ends = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    symmetric = Data(x=X, edge_index=ends, edge_weight=torch.tensor([2.0, 2.0, 3.0, 3.0]))
    assert read_graph(symmetric).edge_weight.tolist() == [2, 2, 3, 3]
    differing = Data(x=X, edge_index=ends, edge_weight=torch.tensor([2.0, 1.0, 3.0, 3.0]))
    assert read_graph(differing).edge_weight.tolist() == [3, 3, 6, 6]


@pytest.mark.parametrize("parts", [{}, {"x": X}, {"edge_index": OUTSIDE}, {"x": X, "edge_index": OUTSIDE}])
def test_a_graph_that_is_none_is_an_error(parts):
    with pytest.raises(InputError, match=r"needs node features|names node 3 of 3"):
        read_graph(Data(**parts))
