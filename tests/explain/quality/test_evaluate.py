import torch
from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import planted, usual_split
from ncgnn.explain import trace_scored
from ncgnn.explain.quality import OURS, SORTED, Subject, evaluate, overlap, rankings, sample
from ncgnn.explain.quality.evaluation import explain
from ncgnn.explain.quality.planted import FEATURE_RANKINGS, found, planted_features, planted_nodes
from ncgnn.models.ncgnn.config import Config, preset


def test_every_method_has_every_measure(subject):
    rows = list(evaluate(subject, Data(num_nodes=5), [0]))
    assert list(dict.fromkeys(row.method for row in rows)) == list(rankings(subject, [0]))
    measures = [{(row.measure, row.sparsity) for row in rows if row.method == name} for name in rankings(subject, [0])]
    assert all(found == measures[0] for found in measures)
    stable = {row.method: row.value for row in rows if row.measure == "stability over repeats"}
    assert stable[OURS] == stable[SORTED] == 1


def test_overlap_is_that_of_the_first_ten():
    order = torch.arange(20)
    assert overlap(order, order) == 1
    assert overlap(order, order.flip(0)) == 0
    assert overlap(order, torch.tensor([0, 1, 2, 3, 4, 15, 16, 17, 18, 19, 5])) == 0.5
    assert overlap(order[:2], torch.tensor([1, 0])) == 1


def test_test_nodes_are_drawn_where_there_are_any():
    data = Data(num_nodes=10, test_mask=torch.tensor([False] * 5 + [True] * 5))
    assert sorted(sample(data, 9)) == [5, 6, 7, 8, 9]
    assert sample(data, 3) == sample(data, 9)[:3]
    assert sorted(sample(Data(num_nodes=4), 4)) == [0, 1, 2, 3]


def test_contributions_find_what_was_planted():
    data = usual_split(planted())
    classifier = NCGNNClassifier.from_config(Config.make(preset("planted"))).fit(data)
    subject = Subject(trace_scored(classifier.scored(data)), data.edge_index)
    nodes = [node for node in sample(data, 20) if subject.predicted[node] == data.y[node]]
    assert len(nodes) >= 19
    truths = [planted_nodes(subject, data, node) for node in nodes]
    for name in (OURS, SORTED):
        assert found("neighbours", explain(subject, nodes, rankings(subject)[name]), truths)[0].value >= 0.9, name
    misled = found("neighbours", explain(subject, nodes, rankings(subject)["filter weights"]), truths)[0].value
    assert misled < 0.5, "bystanders are heard more"
    truths = [planted_features(subject, data, node) for node in nodes]
    assert found("features", explain(subject, nodes, FEATURE_RANKINGS[SORTED]), truths)[0].value >= 0.9
