import numpy as np
import pytest

from ncgnn.calibration.temperature import fit_temperature, heat, smoothed_loss


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
