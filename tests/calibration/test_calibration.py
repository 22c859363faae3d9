import numpy as np
import pytest

from ncgnn.calibration import Calibration, calibration_error
from ncgnn.calibration.temperature import heat
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
