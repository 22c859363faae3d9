import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from ncgnn.classifier import NCGNNClassifier
from ncgnn.classifier.node_estimator import NodeEstimator
from ncgnn.data import load_dataset, set_aside, split_stratified, syn_cora
from ncgnn.errors import InputError

SMALL = {"hops": 2, "num_capsules": 2, "primary_channels": 8, "class_channels": 4, "lr": 0.02, "epochs": 15}


@pytest.fixture
def club():
    return load_dataset("karate")


def estimator(data) -> NodeEstimator:
    return NodeEstimator(NCGNNClassifier(**SMALL), data)


def test_cross_validation_over_nodes():
    data = syn_cora(0.9, num_nodes=200)
    scores = cross_val_score(estimator(data), np.arange(200), data.y.numpy(), cv=StratifiedKFold(3))
    assert scores.shape == (3,)
    assert scores.mean() > 0.4  # a fifth would be chance


def test_a_search_changes_the_settings_of_the_classifier(club):
    search = GridSearchCV(estimator(club), {"classifier__hops": [1, 3]}, cv=2).fit(np.arange(34), club.y.numpy())
    assert search.best_estimator_.classifier_.config_.hops == search.best_params_["classifier__hops"]


def test_labels_in_the_graph_are_not_looked_at(club):
    nodes, y = np.arange(20), club.y.numpy()[:20]
    spoilt = club.clone()
    spoilt.y[20:] = 0
    spoilt.y[:20] = spoilt.y[:20].flip(0)
    one, other = (estimator(data).fit(nodes, y).predict_proba(np.arange(34)) for data in (club, spoilt))
    assert (one == other).all()


def test_classes_come_back_as_they_were_given(club):
    names = np.array(["north", "south", "east", "west"])[club.y.numpy()]
    fitted = estimator(club).fit(np.arange(34), names)
    assert fitted.classes_.tolist() == sorted(set(names))
    assert set(fitted.predict([3, 1])) <= set(names)
    assert fitted.predict_proba([[3], [1]]).shape == (2, 4)
    assert fitted.score(np.arange(34), names) == np.mean(fitted.predict(np.arange(34)) == names)


def test_copies_share_the_graph_and_not_the_classifier(club):
    first = estimator(club)
    second = clone(first)
    assert second.data is club
    assert second.classifier is not first.classifier
    assert second.get_params()["classifier__epochs"] == 15


def test_a_class_of_a_single_node_is_no_obstacle(club):
    y = np.where(np.arange(34) == 5, 9, club.y.numpy())
    assert estimator(club).fit(np.arange(34), y).classes_.tolist() == [0, 1, 2, 3, 9]


@pytest.mark.parametrize("nodes", [[34], [-1], [0.5], ["a"]])
def test_what_is_no_node_is_one_line(club, nodes):
    with pytest.raises(InputError, match="from 0 to 33"):
        estimator(club).fit(nodes, [0])


def test_more_classes_than_validation_nodes_are_no_obstacle(club):
    y = np.arange(20) % 10
    assert estimator(club).fit(np.arange(20), y).classes_.tolist() == list(range(10))


def test_nodes_that_were_set_aside_are_nodes_like_others():
    data = syn_cora(0.9, num_nodes=200)
    aside = set_aside(split_stratified(data, 0.5, 0.3))
    nodes, y = np.arange(200), data.y.numpy()
    one, other = (estimator(graph).fit(nodes, y).predict_proba(nodes) for graph in (data, aside))
    assert (one == other).all()
    assert "calibration_mask" in aside


@pytest.mark.parametrize(
    ("nodes", "y", "val", "message"),
    [
        ([0, 1, 2], [0, 1], 0.2, r"3 nodes, but y has shape \(2,\): y must have one class per node"),
        ([0, 1, 2], [0, 1, 1], 1.5, "val must be a fraction of the nodes, above 0 and below 1, not 1.5"),
        ([0], [0], 0.2, "val=0.2 of 1 nodes leaves none to train on"),
        ([4, 7, 7, 5], [0, 1, 1, 0], 0.2, "node 7 occurs more than once"),
        ([0, 1, 2], [0, 1, -1], 0.2, "y contains -1, which means unlabelled: leave these nodes out"),
    ],
)
def test_what_cannot_be_learnt_from_is_one_line(club, nodes, y, val, message):
    with pytest.raises(InputError, match=message):
        NodeEstimator(NCGNNClassifier(**SMALL), club, val).fit(nodes, y)


def test_what_is_not_trained_does_not_predict(club):
    with pytest.raises(NotFittedError):
        estimator(club).predict([0])
