import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ncgnn.report.quality import Confusion, quality
from ncgnn.report.text import where_it_fails


@pytest.fixture
def data() -> Data:
    """Ten nodes: two to train, one to validate, seven to test, of which four are a and three b; none is c."""
    y = torch.tensor([0, 1, 1, 0, 0, 0, 0, 1, 1, 1])
    masks = {"train_mask": [0, 1], "val_mask": [2], "test_mask": list(range(3, 10))}
    out = Data(y=y, class_names=["a", "b", "c"], num_nodes=10)
    for key, nodes in masks.items():
        out[key] = torch.zeros(10, dtype=torch.bool)
        out[key][nodes] = True
    return out


def test_by_hand(data):
    found = quality(data, np.array([0, 0, 0, 0, 0, 1, 2, 1, 0, 0]))
    assert (found.judged, found.nodes, found.frequent) == ("test", 7, "a")
    assert found.accuracy == pytest.approx(3 / 7)
    assert found.frequent_accuracy == pytest.approx(4 / 7)
    of = {one.name: one for one in found.classes}
    assert [one.name for one in found.classes] == ["b", "a", "c"]  # the one that is found least first
    assert (of["a"].nodes, of["a"].recall, of["a"].precision) == (4, 0.5, 0.5)
    assert (of["b"].nodes, of["b"].precision) == (3, 0.5)
    assert of["b"].recall == pytest.approx(1 / 3)
    assert (of["c"].nodes, of["c"].recall, of["c"].precision) == (0, None, 0.0)
    assert found.confusions[0] == Confusion(2, "b", "a")
    assert {one.count for one in found.confusions[1:]} == {1}


def test_one_node_is_confused_and_two_are(data):
    said = "\n".join(where_it_fails(quality(data, np.array([0, 0, 0, 0, 0, 1, 2, 1, 0, 0]))))
    assert "- 2 of 3 nodes of “b” are classified as “a”" in said
    assert "- 1 of 4 nodes of “a” is classified as “b”" in said


def test_a_perfect_model_confuses_nothing(data):
    found = quality(data, data.y.numpy())
    assert (found.accuracy, found.confusions) == (1, ())
    assert [one.name for one in found.classes] == ["a", "b"]


def test_validation_nodes_are_judged_where_none_are_to_test(data):
    data.test_mask[:] = False
    found = quality(data, data.y.numpy())
    assert (found.judged, found.nodes) == ("validation", 1)


def test_a_graph_without_a_test_mask_has_no_test_nodes(data):
    del data["test_mask"]
    assert quality(data, data.y.numpy()).judged == "validation"
