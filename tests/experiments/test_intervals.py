import pytest

from ncgnn.experiments.rows import RunRow
from ncgnn.experiments.statistics import Estimate, estimate, paired, units, verdict


def row(split: int, seed: int, accuracy: float) -> RunRow:
    values = {"split": str(split), "seed": str(seed), "test_accuracy": str(accuracy)}
    return RunRow(**dict.fromkeys(RunRow._fields, "") | values)


def test_the_interval_is_students():
    # mean 4, standard deviation 2, three values; t(0.975, 2) = 4.302653: 4.302653 * 2 / sqrt(3) = 4.968275
    found = estimate([2.0, 4.0, 6.0])
    assert found.mean == 4
    assert found.half == pytest.approx(4.968275, abs=1e-5)


def test_one_value_has_no_interval_and_no_verdict():
    assert estimate([5.0]) == Estimate(5.0, None)
    assert verdict(Estimate(5.0, None), 1.0, is_on_other_splits=False) is None


def test_runs_on_a_split_are_averaged_before_splits_are_compared():
    rows = [row(0, 0, 0.5), row(0, 1, 0.7), row(1, 0, 0.9)]
    assert units(rows, "split") == pytest.approx({0: 60, 1: 90})
    assert units(rows, "seed") == pytest.approx({0: 70, 1: 70})


@pytest.mark.parametrize(("published", "fixed", "random"), [
    (80, "equal", "equal"),
    (78.8, "above", "equal"),
    (81.2, "below", "equal"),
    (78.5, "above", "above"),
    (81.5, "below", "below"),
    (79, "equal", "equal"),
])  # fmt: skip
def test_the_verdict_is_wider_against_other_random_splits(published, fixed, random):
    ours = Estimate(80, 1)  # the interval 79 to 81, widened 78.59 to 81.41
    assert verdict(ours, published, is_on_other_splits=False) == fixed
    assert verdict(ours, published, is_on_other_splits=True) == random


def test_margins_are_paired_on_common_splits():
    # differences 1, 2, 3: mean 2, standard deviation 1: 4.302653 / sqrt(3) = 2.484138
    found = paired({0: 11, 1: 32, 2: 23, 3: 99}, {0: 10, 1: 30, 2: 20, 7: 50})
    assert found.mean == 2
    assert found.half == pytest.approx(2.484138, abs=1e-5)
    assert paired({0: 1.0}, {1: 1.0}) is None
