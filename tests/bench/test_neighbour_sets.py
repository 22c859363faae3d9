"""Smoothed conformal scores, beside those of torchcp where it is installed."""

import sys

import numpy as np
import pytest
import torch
from benchmarks import neighbour_sets

from ncgnn.data import set_aside, split_stratified, syn_cora

METHODS = ["ours", "ours by class", "ours, neighbours", "APS", "DAPS", "SNAPS"]


@pytest.fixture(scope="module")
def data():
    return set_aside(split_stratified(syn_cora(0.8, num_nodes=600), 0.4, 0.4), 0.5)


@pytest.fixture(scope="module")
def probabilities(data) -> np.ndarray:
    drawn = torch.rand(len(data.y), len(data.class_names), generator=torch.Generator().manual_seed(0))
    return torch.softmax(3 * drawn + torch.nn.functional.one_hot(data.y), dim=1).double().numpy()


class Half:
    """Draws 1/2."""

    def random(self, shape):
        return np.full(shape, 0.5)


def test_the_score_of_a_class_is_the_probability_of_likelier_ones_and_a_share_of_its_own():
    found = neighbour_sets.adaptive(np.array([[0.2, 0.5, 0.3]]), Half())
    assert found == pytest.approx(np.array([[0.9, 0.25, 0.65]]))


def test_smoothing_takes_the_mean_of_neighbours_and_an_isolated_node_is_its_own(data):
    mean = neighbour_sets.mean_of_neighbours(data).toarray()
    assert mean.sum(axis=1) == pytest.approx(1)
    degrees = np.bincount(data.edge_index[0].numpy(), minlength=len(data.y))
    assert all(mean[i, i] == (degrees[i] == 0) for i in range(len(data.y)))


def test_every_method_covers_about_as_many_as_it_should(data, probabilities):
    found = dict(neighbour_sets.sets(data, probabilities, 0))
    assert list(found) == METHODS
    for inside in found.values():
        assert 0.75 < neighbour_sets.judge(data, inside)["coverage"] < 1


def test_without_torchcp_there_are_none_of_its_sets(data, probabilities, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchcp", None)
    monkeypatch.setitem(sys.modules, "torchcp.classification.score", None)
    assert list(neighbour_sets.sets_of_torchcp(data, probabilities, 0)) == []


def test_the_sets_of_torchcp_are_the_same(data, probabilities):
    pytest.importorskip("torchcp", reason="install torchcp")
    ours = dict(neighbour_sets.sets(data, probabilities, 0))
    theirs = dict(neighbour_sets.sets_of_torchcp(data, probabilities, 0))
    assert list(theirs) == ["APS", "RAPS", "DAPS", "SNAPS"]
    for name in ("APS", "DAPS"):
        assert neighbour_sets.same(data, theirs[name], ours[name]) == 1
