from copy import copy

import pytest
import torch

from ncgnn.batches import MappedNames, is_mapped_graph, map_graph, mapped_graph
from ncgnn.data import complete, load_dataset, split_per_class
from ncgnn.errors import InputError


@pytest.fixture(params=["dense", "sparse"])
def graph(request):
    data = complete(split_per_class(load_dataset("karate"), train=3, val=8))
    data.x = data.x.to_dense() if request.param == "dense" else data.x.to_dense().to_sparse_csr()
    data.node_ids = [f"Zoë {i}" for i in range(34)]
    return data


def test_a_stored_graph_is_the_graph(graph, tmp_path):
    found = map_graph(tmp_path / "graph", graph)
    assert is_mapped_graph(tmp_path / "graph")
    assert not is_mapped_graph(tmp_path)
    for key in ("edge_index", "y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(found[key], graph[key])
    assert found.x.layout == graph.x.layout
    assert torch.equal(found.x.to_dense(), graph.x.to_dense())
    assert list(found.node_ids) == graph.node_ids
    assert found.node_ids[-2:] == ["Zoë 32", "Zoë 33"]
    assert (found.class_names, found.feature_names) == (graph.class_names, graph.feature_names)


def test_titles_of_nodes_are_stored_where_there_are_some(graph, tmp_path):
    assert "node_titles" not in map_graph(tmp_path / "plain", graph)
    graph.node_titles = ["", *(f"The {i}th ·" for i in range(1, 34))]
    assert list(map_graph(tmp_path / "titled", graph).node_titles) == graph.node_titles


def test_a_stored_graph_is_not_looked_through_again_unless_a_part_is_replaced(graph, tmp_path):
    found = complete(map_graph(tmp_path / "graph", graph))
    assert isinstance(found.node_ids, MappedNames)
    for key, count, message in (("node_ids", 34, "has duplicate names"), ("node_titles", 35, "has 35 names for 34")):
        changed = copy(found)
        changed[key] = ["same"] * count
        with pytest.raises(InputError, match=message):
            complete(changed)


def test_a_damaged_file_is_noticed(graph, tmp_path):
    map_graph(tmp_path / "graph", graph)
    file = tmp_path / "graph" / "000000000000-y.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    with pytest.raises(
        InputError, match=r"000000000000-y\.npy: is damaged, or of another graph .*: store the graph again$"
    ):
        mapped_graph(tmp_path / "graph")
