import numpy as np
import pytest

from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import set_aside, split_fractions, syn_cora
from ncgnn.explain import GraphExplainer
from ncgnn.page.predictions import Predictions


def made(split: list[str] | None) -> Predictions:
    """Four nodes: right and sure, wrong and sure, wrong and unsure, not labelled."""
    probability = np.array([[0.9, 0.1], [0.8, 0.2], [0.55, 0.45], [0.7, 0.3]])
    best = np.array([[0, 1]] * 4)
    return Predictions(best, probability, np.array([0, 1, 1, -1]), None if split is None else np.array(split))


def test_test_nodes_are_judged_and_all_labelled_ones_where_no_split_is_known():
    assert made(["test", "train", "test", ""]).judged.nodes.tolist() == [0, 2]
    assert made(None).judged.nodes.tolist() == [0, 1, 2]
    validated = made(["val", "train", "train", "test"]).judged  # the last one has no label
    assert (validated.kind, validated.nodes.tolist()) == ("validation", [0])


def test_doubtful_are_nodes_whose_best_classes_are_near_to_each_other():
    assert made(None).doubtful(3).tolist() == [2, 1, 0], "the last node has no label"
    assert made(["test", "val", "train", ""]).doubtful(2).tolist() == [1, 0]


def test_surprising_are_sure_predictions_against_the_label():
    assert made(None).surprising(9).tolist() == [1, 2]
    assert made(["test", "train", "test", ""]).surprising(9).tolist() == [2]


def test_predictions_are_those_of_the_classifier(explainer, karate):
    predictions = Predictions.of(explainer)
    assert predictions.predicted.tolist() == explainer.trace.scores.argmax(dim=1).tolist()
    assert (predictions.label == karate.y.numpy()).all()
    assert (predictions.split == "train").sum() == karate.train_mask.sum()


def test_probabilities_are_calibrated_where_the_model_is():
    data = set_aside(split_fractions(syn_cora(0.5), 0.25, 0.25))
    classifier = NCGNNClassifier(**SMALL, hops=2, epochs=5).fit(data)
    predictions = Predictions.of(GraphExplainer(classifier.scored(data)))
    expected = np.sort(classifier.predict_proba(data), axis=1)[:, :-3:-1]
    assert predictions.probability == pytest.approx(expected)
    assert predictions.split is not None
    assert "calibration" in predictions.split
