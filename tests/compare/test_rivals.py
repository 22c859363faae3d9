import warnings

import numpy as np
import pytest
import torch

from ncgnn.compare import RIVALS
from ncgnn.compare.boosting import MOST_FEATURES, boost, reductions
from ncgnn.compare.propagation import propagate
from ncgnn.data import split_stratified, syn_cora
from ncgnn.data.graph import feature_matrix, make_graph

EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])


def graph(x: torch.Tensor, y: list[int], train: list[int], val: list[int]):
    """Two chains, 0 1 2 and 3 4, and node 5 alone."""
    data = make_graph("small", x, EDGES, torch.tensor(y))
    for key, nodes in (("train", train), ("val", val), ("test", [])):
        mask = torch.zeros(len(y), dtype=torch.bool)
        mask[nodes] = True
        data[f"{key}_mask"] = mask
    return data


def accuracy(data, predicted: np.ndarray) -> float:
    test = data.test_mask.numpy()
    return float(np.mean(predicted[test] == data.y.numpy()[test]))


def test_labels_follow_edges_and_stop_where_there_are_none():
    data = graph(torch.eye(6), [1, 1, 1, 0, 0, 0], train=[0, 3, 1], val=[4])
    assert propagate(data).tolist() == [1, 1, 1, 0, 0, 1]  # node 5 has the most frequent training class


def test_labels_that_propagate_do_not_look_at_features_or_other_labels():
    one = graph(torch.eye(6), [1, 1, 1, 0, 0, 0], train=[0, 3], val=[4])
    other = graph(torch.rand(6, 6), [1, 0, 0, 0, 0, 1], train=[0, 3], val=[4])
    assert propagate(one).tolist() == propagate(other).tolist()


def test_boosting_does_not_look_at_edges():
    data = split_stratified(syn_cora(0.5, num_nodes=80), seed=1)
    alone = data.clone()
    alone.edge_index = torch.zeros(2, 0, dtype=torch.int64)
    assert (boost(data) == boost(alone)).all()


def test_boosting_learns_what_one_feature_says():
    y = [i % 2 for i in range(60)]
    x = torch.stack([torch.tensor(y, dtype=torch.float32), torch.rand(60)], dim=1)
    data = split_stratified(make_graph("flag", x, torch.zeros(2, 0, dtype=torch.int64), torch.tensor(y)))
    assert boost(data).tolist() == y


def test_many_features_are_reduced_to_few_in_two_ways():
    data = split_stratified(syn_cora(0.5, num_nodes=200))
    x = feature_matrix(data.x)
    chosen, directions = reductions(x, data.y.numpy(), data.train_mask.numpy(), seed=0)
    assert chosen.shape == (200, MOST_FEATURES)
    assert directions.shape[1] < MOST_FEATURES
    few = x[:, :MOST_FEATURES]
    assert len(list(reductions(few, data.y.numpy(), data.train_mask.numpy(), seed=0))) == 1


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_a_rival_learns_from_what_it_knows(rival):
    """In a graph of edges within classes and of words, all are better than chance, which is a fifth."""
    data = split_stratified(syn_cora(0.9, num_nodes=200), seed=0)
    predicted = rival.predict(data, 0)
    assert predicted.shape == (200,)
    assert accuracy(data, predicted) > 0.3


def test_whoever_takes_the_reduced_features_hears_of_faults_of_their_own():
    data = split_stratified(syn_cora(0.5, num_nodes=80))
    before = (list(warnings.filters), np.geterr())
    for _ in reductions(feature_matrix(data.x), data.y.numpy(), data.train_mask.numpy(), seed=0):
        assert (list(warnings.filters), np.geterr()) == before
