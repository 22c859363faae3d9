import numpy as np
import pytest

from ncgnn.calibration import calibration_error


def test_by_hand():
    # at 0.9 half are right, at 0.6 all are: half of the nodes are 0.4 off, and the other half too
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    assert calibration_error(probabilities, np.array([0, 1, 1, 1])) == pytest.approx(0.4)


def test_probabilities_that_keep_their_promise_have_none():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.5, 1, size=200_000)
    y = (rng.random(200_000) > sure).astype(int)
    assert calibration_error(np.stack([sure, 1 - sure], axis=1), y) < 0.01


def test_certainty_belongs_to_the_last_bin():
    assert calibration_error(np.array([[1.0, 0.0], [0.99, 0.01]]), np.array([0, 0])) == pytest.approx(0.005)
