import pytest
import torch
from torch_geometric.data import Data

from ncgnn.explain.quality.planted import FEATURE_RANKINGS, found, has_truth, planted_features, planted_nodes


def test_precision_among_as_many_and_recall_among_twice_as_many():
    truth = torch.tensor([True, True, False, False, False])
    importance = torch.tensor([5.0, 1.0, 4.0, 3.0, 0.0])
    precision, recall, auc = found("neighbours", [importance], [truth])
    assert (precision.measure, precision.value) == ("precision of planted neighbours", 0.5)
    assert (recall.measure, recall.value) == ("recall of planted neighbours", 1.0)
    assert auc.measure == "AUC of planted neighbours"
    assert auc.value == pytest.approx(4 / 6), "pairs in the right order"


def graph() -> Data:
    groups = {"node_group": torch.tensor([-1, 0, 1, 0, 0]), "feature_group": torch.tensor([0, 0, 1, 1, -1, -1])}
    return Data(y=torch.tensor([0, -1, -1, -1, -1]), num_nodes=5, **groups)


def test_truth_is_what_a_node_hears_of_its_class(subject):
    assert has_truth(graph())
    assert not has_truth(Data(num_nodes=5))
    assert planted_nodes(subject, graph(), 0).tolist() == [False, True, False, True, False], "node 4 is too far away"
    assert planted_features(subject, graph(), 0).tolist() == [True, True, False, False, False, False]


def test_every_method_ranks_every_feature(subject):
    for name, ranking in FEATURE_RANKINGS.items():
        importance = ranking(subject, 0).detach()
        assert importance.shape == (6,), name
        assert torch.isfinite(importance).all(), name
