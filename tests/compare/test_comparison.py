from copy import copy

import pandas as pd
import pytest
from torch import Tensor
from torch_geometric.data import Data

from helpers.stand_in_models import StandIn, stand_in
from ncgnn.classifier import NCGNNClassifier
from ncgnn.compare import Compared, Verdict, compare, judge
from ncgnn.data import load_dataset, read_graph, split_per_class, split_stratified
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph

SMALL = {"hops": 2, "num_capsules": 2, "primary_channels": 8, "class_channels": 4, "epochs": 5}


@pytest.fixture(scope="module")
def club():
    return split_per_class(load_dataset("karate"), 3, 8)


@pytest.fixture(scope="module")
def classifier(club):
    return NCGNNClassifier(**SMALL).fit(club)


def compared(data: Data, classifier: NCGNNClassifier, *others: StandIn) -> list[Compared]:
    graph = PreparedGraph.of(data)
    return list(compare(graph, classifier.definition, classifier.scored(graph), classifier.seconds_, others))


ORACLE = stand_in("oracle", "both", lambda data: data.y)
LIAR = stand_in("liar", "both", lambda data: (data.y + 1) % 4)


def test_the_first_row_is_that_of_the_classifier(club, classifier):
    (own,) = compared(club, classifier)
    assert (own.model, own.better, own.worse) == ("NCGNN", 0, 0)
    assert own.test_accuracy == classifier.score(club)
    assert own.val_accuracy == classifier.score(club, club.val_mask)


def test_nodes_that_one_alone_gets_right_are_counted(club, classifier):
    own, all_right = compared(club, classifier, ORACLE)
    assert all_right.test_accuracy == 1
    assert own.test_accuracy is not None
    assert (all_right.better, all_right.worse) == (0, round((1 - own.test_accuracy) * 14))
    _, all_wrong = compared(club, classifier, LIAR)
    assert (all_wrong.better, all_wrong.worse) == (round(own.test_accuracy * 14), 0)


def test_without_test_nodes_validation_nodes_decide(classifier):
    data = split_stratified(load_dataset("karate"), 0.5, 0.5)
    own, _ = compared(data, classifier, ORACLE)
    assert own.test_accuracy is None
    assert own.judged == int(data.val_mask.sum())
    assert own.decisive == own.val_accuracy


def test_rivals_see_the_numbers_scaled_by_the_training_nodes():
    nodes = pd.DataFrame({"id": range(40), "size": range(40), "topic": ["a", "b"] * 20})
    data = split_stratified(read_graph(nodes, pd.DataFrame({"source": [0], "target": [1]}), label="topic"))
    seen = []

    def watch(data: Data) -> Tensor:
        seen.append(data.x)
        return data.y

    compared(data, NCGNNClassifier(**SMALL).fit(data), stand_in("watch", "features", watch))
    trained = seen[0][data.train_mask]
    assert float(trained.mean()) == pytest.approx(0, abs=1e-6)
    assert float(trained.std(correction=0)) == pytest.approx(1, abs=1e-5)


def test_a_graph_without_a_test_mask_has_no_test_nodes(club, classifier):
    data = copy(club)
    del data["test_mask"]
    (own,) = compared(data, classifier)
    assert (own.test_accuracy, own.judged) == (None, 8)
    assert judge([own]) == Verdict(
        "NCGNN", f"{own.val_accuracy:.1%} of 8 validation nodes correct; no other model to compare with"
    )


def test_the_fault_of_a_rival_names_it(club, classifier):
    def fail(data):
        raise InputError("too few nodes")

    with pytest.raises(InputError, match=r"^stubborn: too few nodes$"):
        compared(club, classifier, stand_in("stubborn", "both", fail))
