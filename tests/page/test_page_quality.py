import numpy as np
import pytest

from ncgnn.page.quality import accuracy, calibration_error, confusion, reliability


def test_confusions_are_counted_by_label_and_prediction():
    label, predicted = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0])
    assert confusion(label, predicted, 3).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert accuracy(label, predicted) == 0.5


def test_a_bin_has_the_mean_probability_and_the_share_right():
    bins = reliability(np.array([True, False, True]), np.array([0.32, 0.38, 1.0]))
    assert bins == [
        {"count": 2, "probability": pytest.approx(0.35), "right": 0.5},
        {"count": 1, "probability": 1.0, "right": 1.0},
    ]


def test_probabilities_that_keep_their_word_have_no_calibration_error():
    assert calibration_error(reliability(np.array([True, False]), np.array([0.5, 0.5]))) == 0
    assert calibration_error(reliability(np.array([True, True]), np.array([0.25, 0.25]))) == pytest.approx(0.75)
