import numpy as np

from ncgnn.page import choose
from ncgnn.page.choice import LISTED
from ncgnn.page.predictions import Predictions


def many(total: int) -> Predictions:
    rng = np.random.default_rng(0)
    best = np.tile([0, 1], (total, 1))
    first = rng.uniform(0.5, 1, total)
    split = np.where(np.arange(total) % 2, "test", "train")
    return Predictions(best, np.stack([first, 1 - first], axis=1), rng.integers(0, 2, total), split)


def test_a_small_graph_is_shown_and_explained_whole():
    choice = choose(many(50), most=50)
    assert choice.on_map.tolist() == choice.explained.tolist() == list(range(50))
    assert choice.reason == "All 50 nodes are on the map. All of them are explained."


def test_of_a_large_graph_listed_nodes_and_a_sample_of_test_nodes_are_shown():
    predictions = many(500)
    choice = choose(predictions, most=60)
    assert len(choice.on_map) == len(set(choice.on_map)) == 60
    assert set(predictions.doubtful(LISTED)) | set(predictions.surprising(LISTED)) <= set(choice.on_map)
    assert predictions.split is not None
    assert (predictions.split[choice.on_map] == "test").all()
    assert set(np.flatnonzero(predictions.split == "test")) < set(choose(predictions, most=400).on_map)
    assert "60 of the graph's 500 nodes" in choice.reason
    assert "at random, test nodes first" in choice.reason
    assert choose(predictions, most=60).on_map.tolist() == choice.on_map.tolist()


def test_nodes_that_are_asked_for_are_on_the_map_and_alone_explained():
    choice = choose(many(500), wanted=[4, 2, 4], most=60)
    assert choice.explained.tolist() == [2, 4]
    assert {2, 4} <= set(choice.on_map)
    assert len(choice.on_map) == 60
    assert "the requested ones" in choice.reason


def test_nodes_without_a_label_come_first():
    predictions = many(500)
    predictions.label[:] = 1
    predictions.label[30:60] = -1
    choice = choose(predictions, most=60)
    assert set(range(30, 60)) <= set(choice.on_map)
    assert "those to be predicted, " in choice.reason
    lead = predictions.probability[:, 0] - predictions.probability[:, 1]
    assert (np.diff(lead[predictions.unlabelled]) >= 0).all()
