import numpy as np
import pytest

from ncgnn.calibration.conformal import class_sets, nonconformity, threshold
from ncgnn.errors import InputError


def test_the_score_is_what_does_not_speak_for_the_right_class():
    shares = np.array([[0.7, 0.3], [0.4, 0.6]])
    np.testing.assert_allclose(nonconformity(shares, np.array([0, 0])), [0.3, 0.6])


def test_the_threshold_by_hand():
    scores = np.arange(1, 10) / 10  # nine scores: the ninth of ten ranks holds nine tenths
    assert threshold(scores, 0.9) == 0.9
    assert threshold(scores, 0.5) == 0.5
    assert threshold(scores[::-1], 0.5) == 0.5  # in whatever order


def test_a_set_holds_the_classes_up_to_the_threshold():
    shares = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25], [0.34, 0.33, 0.33]])
    inside = class_sets(shares, np.full(9, 0.65), 0.9)
    assert inside.tolist() == [[True, False, False], [True, True, False], [False, False, False]]


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_sets_hold_the_right_class_as_often_as_asked(coverage):
    """Over many draws of nodes to set aside, whatever the shares are worth: within one part in n + 1 above."""
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(5), size=400)
    y = np.where(rng.random(400) < 0.6, shares.argmax(axis=1), rng.integers(5, size=400))
    covered = []
    for _ in range(2000):
        order = rng.permutation(400)
        aside, new = order[:50], order[50:]
        inside = class_sets(shares[new], nonconformity(shares[aside], y[aside]), coverage)
        covered.append(inside[np.arange(len(new)), y[new]].mean())
    slack = 4 * np.std(covered) / np.sqrt(len(covered))
    assert coverage - slack < np.mean(covered) < coverage + 1 / 51 + slack


@pytest.mark.parametrize(("coverage", "needed"), [(0.9, 9), (0.95, 19), (0.5, 1)])
def test_no_set_is_given_from_too_few_nodes(coverage, needed):
    threshold(np.zeros(needed), coverage)
    with pytest.raises(
        InputError, match=rf"a coverage of .* needs at least {needed} held-out nodes, but the model has {needed - 1}"
    ):
        threshold(np.zeros(needed - 1), coverage)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1.5, -0.1, float("nan")])
def test_a_coverage_is_a_share(coverage):
    with pytest.raises(InputError, match="coverage must be above 0 and below 1"):
        threshold(np.zeros(100), coverage)


def test_the_smallest_coverage_takes_the_smallest_score():
    assert threshold(np.array([0.3, 0.1, 0.2]), 1e-12) == 0.1
