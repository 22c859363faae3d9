import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from ncgnn.data import load_dataset, syn_cora
from ncgnn.errors import InputError
from ncgnn.train import NCGNNClassifier
from ncgnn.train.nodes import NodeEstimator

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
