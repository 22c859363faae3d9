import time

import numpy as np
import pytest
import torch

from ncgnn.data import load_dataset, statistics, syn_cora
from ncgnn.data.graph import feature_matrix
from ncgnn.errors import InputError


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("tenth", range(1, 10))
def test_the_paper_s_table_2_at_every_homophily(tenth, seed):
    found = statistics(syn_cora(tenth / 10, seed=seed))
    assert (found.nodes, found.features, found.classes, found.isolated) == (1490, 1433, 5, 0)
    assert 2965 <= found.edges <= 2968
    assert found.edge_homophily == pytest.approx(tenth / 10, abs=0.01)


@pytest.mark.parametrize("homophily", [0.0, 1.0])
def test_the_ends_of_the_scale(homophily):
    assert statistics(syn_cora(homophily)).edge_homophily == pytest.approx(homophily, abs=0.01)


@pytest.mark.parametrize(("nodes", "classes", "per_node"), [(40, 2, 1), (300, 3, 8), (400, 9, 2)])
def test_other_sizes_have_equal_classes_and_no_isolated_node(nodes, classes, per_node):
    data = syn_cora(0.4, nodes, classes, per_node)
    sizes = torch.bincount(data.y)
    assert len(sizes) == classes
    assert sizes.max() - sizes.min() <= 1
    assert statistics(data).isolated == 0
    assert statistics(data).edge_homophily == pytest.approx(0.4, abs=0.05)


def test_degrees_follow_preferential_attachment():
    degrees = torch.bincount(syn_cora(0.5).edge_index[0])
    assert degrees.max() > 10 * degrees.median()
    assert degrees.median() <= 3


def test_neighbouring_classes_are_linked_twice_as_often_as_those_two_apart():
    data = syn_cora(0.1, num_nodes=6000)
    distance = (data.y[data.edge_index[0]] - data.y[data.edge_index[1]]).abs()
    counts = torch.bincount(torch.minimum(distance, 5 - distance))
    assert float(counts[1] / counts[2]) == pytest.approx(2, rel=0.15)


def test_a_seed_fixes_the_graph_and_another_changes_it():
    first, again, other = syn_cora(0.3, seed=7), syn_cora(0.3, seed=7), syn_cora(0.3, seed=8)
    assert torch.equal(first.edge_index, again.edge_index)
    assert torch.equal(first.x.to_dense(), again.x.to_dense())
    assert not torch.equal(first.edge_index, other.edge_index)


def test_features_are_rows_of_the_bank_s_class_of_the_same_rank_each_used_once():
    bank = load_dataset("karate")  # its features are the unit vectors: a row names its node
    data = syn_cora(0.5, num_nodes=8, num_classes=4, features=bank)
    drawn = feature_matrix(data.x).indices
    assert len(set(drawn.tolist())) == 8
    by_class = [set(bank.y[drawn[(data.y == c).numpy()]].tolist()) for c in range(4)]
    assert sorted(by_class, key=sorted) == [{0}, {1}, {2}, {3}]


def test_a_bank_that_is_too_small_is_refused():
    with pytest.raises(InputError, match="fewer nodes"):
        syn_cora(0.5, num_nodes=100, num_classes=4, features=load_dataset("karate"))


def test_without_cora_the_words_come_from_a_topic_model_that_tells_the_classes_apart(no_benchmark):
    data = syn_cora(0.5, num_nodes=900, num_classes=8)  # more classes than Cora has
    x = feature_matrix(data.x).toarray()
    assert set(np.unique(x)) == {0, 1}
    assert (x.sum(axis=1) > 0).all()
    y = data.y.numpy()
    train, test = np.arange(900) % 2 == 0, np.arange(900) % 2 == 1
    frequency = np.stack([x[train & (y == c)].mean(axis=0) for c in range(8)]) + 0.01
    guess = (x[test] @ np.log(frequency).T + (1 - x[test]) @ np.log(1 - frequency).T).argmax(axis=1)  # naive Bayes
    assert (guess == y[test]).mean() > 3 / 8


def test_edges_and_labels_of_a_seed_do_not_depend_on_the_features(no_benchmark, monkeypatch):
    default = syn_cora(0.3, seed=5)
    monkeypatch.setattr("ncgnn.data.named.packaged.find_spec", lambda name: None)
    without_cora = syn_cora(0.3, seed=5)
    assert torch.equal(default.edge_index, without_cora.edge_index)
    assert torch.equal(default.y, without_cora.y)
    assert without_cora.x.shape == (1490, 1433)


def test_generation_takes_less_than_a_second():
    syn_cora(0.5)  # imports and Cora's file
    start = time.perf_counter()
    syn_cora(0.5)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"homophily": 1.1}, "homophily must be from 0 to 1"),
        ({"homophily": float("nan")}, "homophily must be from 0 to 1"),
        ({"homophily": 0.5, "num_classes": 1}, "2 classes"),
        ({"homophily": 0.5, "edges_per_node": 0}, "1 edge per node"),
        ({"homophily": 0.5, "num_nodes": 6}, "too few"),
    ],
)
def test_impossible_requests(arguments, message):
    with pytest.raises(InputError, match=message):
        syn_cora(**arguments)
