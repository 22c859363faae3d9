import numpy as np
import pytest

from ncgnn.calibration import Calibration, calibration_error
from ncgnn.calibration.calibration import class_sets, fit_temperature, heat, nonconformity, smoothed_loss, threshold
from ncgnn.errors import InputError


@pytest.fixture
def shares() -> np.ndarray:
    """Timid shares: the best class is right far more often than they say."""
    return np.random.default_rng(0).dirichlet(np.full(3, 30.0), size=3000).astype(np.float32)


@pytest.fixture
def y(shares) -> np.ndarray:
    chances = heat(shares, 0.1).cumsum(axis=1)
    return (np.random.default_rng(1).random((3000, 1)) > chances).sum(axis=1)


def test_probabilities_become_honest_and_sets_as_large_as_asked(shares, y):
    found = Calibration.fit(shares[:1500], y[:1500])
    new, labels = shares[1500:], y[1500:]
    assert calibration_error(new, labels) > 0.2
    assert calibration_error(found.probabilities(new), labels) < 0.05
    covered = found.sets(new, 0.9)[np.arange(1500), labels]
    assert abs(covered.mean() - 0.9) < 0.03


def test_more_coverage_means_larger_sets(shares, y):
    found = Calibration.fit(shares[:200], y[:200])
    some, more = (found.sets(shares, coverage) for coverage in (0.6, 0.95))
    assert (more >= some).all()
    assert more.sum() > some.sum()


def test_it_survives_json_to_the_last_bit(shares, y):
    found = Calibration.fit(shares[:200], y[:200])
    again = Calibration.model_validate_json(found.model_dump_json())
    assert again == found
    assert np.array_equal(again.sets(shares, 0.9), found.sets(shares, 0.9))


def test_the_sets_do_not_depend_on_the_temperature(shares, y):
    found = Calibration.fit(shares[:200], y[:200])
    other = found.model_copy(update={"temperature": 7.0})
    assert np.array_equal(other.sets(shares, 0.9), found.sets(shares, 0.9))


def test_a_few_nodes_calibrate_nothing(shares, y):
    with pytest.raises(InputError, match=r"calibration needs at least 20 held-out nodes, but there are 19"):
        Calibration.fit(shares[:19], y[:19])


def draw(count: int, temperature: float, classes: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Shares, and labels drawn from what they are at a temperature."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(classes, 5.0), size=count)
    chances = heat(shares, temperature).cumsum(axis=1)
    return shares, (rng.random((count, 1)) > chances).sum(axis=1)


def test_at_temperature_one_nothing_changes():
    shares, _ = draw(50, 1.0)
    np.testing.assert_allclose(heat(shares, 1.0), shares)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 3.0])
def test_probabilities_add_up_to_one_and_keep_their_order(temperature):
    shares, _ = draw(50, 1.0)
    heated = heat(shares, temperature)
    np.testing.assert_allclose(heated.sum(axis=1), 1)
    assert np.array_equal(heated.argsort(axis=1), shares.argsort(axis=1))


def test_cold_is_sure_and_hot_is_not():
    shares = np.array([[0.5, 0.3, 0.2]])
    assert heat(shares, 0.01)[0, 0] > 0.999
    np.testing.assert_allclose(heat(shares, 1000.0), 1 / 3, atol=1e-3)


def test_a_class_that_nothing_speaks_for_has_no_probability_and_makes_no_fault():
    heated = heat(np.array([[0.9, 0.1, 0.0]], np.float32), 0.5)
    assert np.isfinite(heated).all()
    assert heated[0, 2] < 1e-12


@pytest.mark.parametrize("temperature", [0.1, 0.5, 2.0])
def test_the_temperature_that_labels_were_drawn_at_is_found(temperature):
    assert fit_temperature(*draw(20_000, temperature)) == pytest.approx(temperature, rel=0.1)


@pytest.mark.parametrize("count", [20, 200])
def test_nodes_that_are_all_right_make_no_certainty(count):
    """So few cannot show more than about one mistake in as many."""
    shares = np.tile([0.4, 0.3, 0.3], (count, 1))
    sure = heat(shares, fit_temperature(shares, np.zeros(count, int))).max()
    assert 1 - 2 / count < sure < 1 - 0.5 / count


def test_the_loss_by_hand():
    # two nodes: a quarter of each label is taken to be the other class
    probabilities = np.array([[0.8, 0.2], [0.4, 0.6]])
    expected = -np.mean([0.75 * np.log(0.8) + 0.25 * np.log(0.2), 0.75 * np.log(0.6) + 0.25 * np.log(0.4)])
    assert smoothed_loss(probabilities, np.array([0, 1])) == pytest.approx(expected)


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


def test_sets_by_class_cover_every_class():
    """The nodes of a rare class look less like it; a threshold for all covers them rarely, one for each class often."""
    rng = np.random.default_rng(1)
    y = (rng.random(4000) < 0.1).astype(int)
    right = np.where(y == 1, rng.beta(2, 3, 4000), rng.beta(6, 2, 4000))
    shares = np.where(np.eye(2, dtype=bool)[y], right[:, None], 1 - right[:, None])
    fitted, new = Calibration.fit(shares[:2000], y[:2000]), slice(2000, None)
    for sets, low in ((fitted.sets, 0.0), (fitted.sets_by_class, 0.85)):
        own = np.take_along_axis(sets(shares[new], 0.9), y[new, None], axis=1)[:, 0]
        covered = [own[y[new] == one].mean() for one in (0, 1)]
        assert (covered[1] < 0.7) if low == 0 else (min(covered) > low and max(covered) < 0.95)


def test_sets_by_class_need_the_labels_of_the_scores():
    with pytest.raises(InputError, match="older than coverage by class"):
        Calibration(temperature=1.0, scores=[0.1] * 20).sets_by_class(np.ones((1, 2)) / 2, 0.5)
    with pytest.raises(ValueError, match="a label for each score"):
        Calibration(temperature=1.0, scores=[0.1] * 20, labels=[0])
