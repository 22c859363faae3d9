import re

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ncgnn.data import complete, load_dataset, read_graph
from ncgnn.errors import InputError

EDGES = torch.tensor([[0, 1], [1, 0]])
X, OUTSIDE = torch.eye(3), torch.tensor([[0], [3]])


def test_a_plain_graph_gets_numbers_as_names_and_no_label():
    data = complete(Data(x=torch.ones(2, 3, dtype=torch.long), edge_index=EDGES))
    assert data.x.dtype == torch.float32
    assert (data.y.tolist(), data.num_nodes) == ([-1, -1], 2)
    assert (data.class_names, data.feature_names, data.node_ids) == ([], ["0", "1", "2"], ["0", "1"])


def test_names_and_labels_that_are_there_stay():
    given = Data(
        x=torch.ones(2, 1), edge_index=EDGES, y=torch.tensor([0, 1]), class_names=["a", "b"], node_ids=["x", "y"]
    )
    data = complete(given)
    assert (data.class_names, data.node_ids, data.y.tolist()) == (["a", "b"], ["x", "y"], [0, 1])
    assert "feature_names" not in given


def test_a_graph_of_this_library_is_complete():
    karate = load_dataset("karate")
    assert sorted(complete(karate).keys()) == sorted(karate.keys())


def test_sparse_features_become_csr_of_equal_value():
    x = torch.eye(4)
    data = complete(Data(x=x.to_sparse_coo(), edge_index=EDGES))
    assert data.x.layout is torch.sparse_csr
    assert torch.equal(data.x.to_dense(), x)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Data(num_nodes=2), "needs node features"),
        (Data(x=torch.ones(2, 1)), "needs node features"),
        (Data(x=torch.ones(2), edge_index=EDGES), "needs node features"),
        (Data(x=torch.ones(0, 3), edge_index=EDGES[:, :0]), "empty: 0 nodes"),
        (Data(x=torch.ones(2, 0), edge_index=EDGES), "0 features"),
        (Data(x=torch.tensor([[1.0, 2.0], [0.0, float("nan")]]), edge_index=EDGES), "row 1, column 1"),
    ],
)
def test_graphs_that_nothing_can_be_done_with(graph, message):
    with pytest.raises(InputError, match=message):
        complete(graph)


@pytest.mark.parametrize("y", [torch.zeros(3), torch.zeros(3, 1, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)])
def test_labels_that_are_no_whole_number_a_node_are_refused(y):
    with pytest.raises(InputError, match="y must contain one integer per node"):
        complete(Data(x=torch.ones(3, 2), edge_index=torch.zeros(2, 0, dtype=torch.int64), y=y))


def test_features_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="nothing to learn from"):
        complete(Data(x=torch.zeros(3, 2), edge_index=torch.zeros(2, 0, dtype=torch.int64)))


@pytest.mark.parametrize("titles", [["a"], []])
def test_titles_must_be_one_a_node(titles):
    with pytest.raises(InputError, match=f"node_titles has {len(titles)} names for 2"):
        complete(Data(x=torch.ones(2, 1), edge_index=EDGES, node_titles=titles))


@pytest.mark.parametrize(("titles", "expected"), [([None, 7], ["", "7"]), (np.array(["a", "b"]), ["a", "b"])])
def test_titles_become_text(titles, expected):
    assert complete(Data(x=torch.ones(2, 1), edge_index=EDGES, node_titles=titles)).node_titles == expected


def test_names_become_text():
    given = Data(x=torch.ones(2, 1), edge_index=EDGES, y=torch.tensor([0, 1]), class_names=[10, 20], feature_names=[7])
    data = complete(given)
    assert (data.class_names, data.feature_names) == (["10", "20"], ["7"])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "edge_weight has shape (1,) for 2 edges"),
        ([1.0, float("nan")], "edge_weight must be finite and positive"),
        ([0.0, 0.0], "edge_weight must be finite and positive"),
        ([float("inf")] * 2, "edge_weight must be finite and positive"),
    ],
)
def test_weights_that_a_filter_cannot_take_are_named(weight, message):
    data = Data(x=torch.ones(2, 1), edge_index=EDGES, edge_weight=torch.tensor(weight))
    with pytest.raises(InputError, match=re.escape(message)):
        complete(data)


def test_two_nodes_with_one_id_are_refused():
    with pytest.raises(InputError, match="node_ids has duplicate names"):
        complete(Data(x=torch.ones(2, 1), edge_index=EDGES, node_ids=["a", "a"]))
    with pytest.raises(InputError, match="class_names has duplicate names"):
        complete(Data(x=torch.ones(2, 1), edge_index=EDGES, y=torch.tensor([0, 1]), class_names=["a", "a"]))


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
    with pytest.raises(InputError, match=r"needs node features|contains node 3, but the graph has 3"):
        read_graph(Data(**parts))
