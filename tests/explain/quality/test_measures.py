import pytest
import torch

from ncgnn.explain.quality import SPARSITIES, Subject, field, ranked
from ncgnn.explain.quality.measures import Removal, remove, size, summary


def removal(kept_changes: float, without_changes: float, kept_p: float = 0.8, without_p: float = 0.2) -> Removal:
    """Two nodes with probability 0.8, and 0.1 with nobody heard, all alike at every sparsity."""
    same = torch.ones(2, len(SPARSITIES))
    return Removal(
        kept_changes * same,
        (0.8 - kept_p) * same,
        without_changes * same,
        (0.8 - without_p) * same,
        torch.full((2,), 0.8),
        torch.full((2,), 0.1),
    )


def overall(removal: Removal) -> dict[str, float]:
    return {one.measure: one.value for one in summary(removal) if one.sparsity is None}


def test_an_explanation_that_is_enough_and_needed_is_perfect():
    found = overall(removal(kept_changes=0, without_changes=1))
    assert (found["fidelity+"], found["fidelity-"], found["characterisation"]) == (1, 0, 1)


def test_characterisation_is_the_harmonic_mean():
    found = overall(removal(kept_changes=0.5, without_changes=0.25))
    assert found["characterisation"] == pytest.approx(2 / (1 / 0.25 + 1 / 0.5))


def test_what_nobody_needs_has_no_characterisation():
    assert overall(removal(kept_changes=0, without_changes=0))["characterisation"] == 0
    assert overall(removal(0, 1, kept_p=0.9, without_p=0.85))["characterisation, probability"] == 0


def test_probability_lost_is_measured_too():
    found = overall(removal(0, 1, kept_p=0.7, without_p=0.2))
    assert found["fidelity+, probability"] == pytest.approx(0.6)
    assert found["fidelity-, probability"] == pytest.approx(0.1)


def test_areas_are_those_of_the_curves():
    found = overall(removal(0, 1, kept_p=0.8, without_p=0.1))
    assert found["insertion"] == pytest.approx(0.8 - 0.01 * 0.7 / 2)  # nobody at 0, all of it from 0.01 on
    assert found["deletion"] == pytest.approx(0.1 + 0.01 * 0.7 / 2)


def test_there_is_a_value_for_each_sparsity():
    values = [one for one in summary(removal(0, 1)) if one.measure == "fidelity+"]
    assert [one.sparsity for one in values] == [*SPARSITIES, None]


@pytest.mark.parametrize(("sparsity", "heard", "expected"), [(0.5, 10, 5), (0.99, 10, 1), (0.9, 100, 10)])
def test_an_explanation_has_at_least_one_node(sparsity, heard, expected):
    assert size(sparsity, heard) == expected


def test_ranked_are_those_that_are_heard(subject):
    assert field(subject, 4).tolist() == [2, 3, 4], "the tail of two, and what lies two steps away"
    assert ranked(subject, 4, torch.tensor([9.0, 9.0, 1.0, 3.0, 2.0])).tolist() == [3, 4, 2]


def test_removal_asks_the_model(subject: Subject):
    order = ranked(subject, 0, torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0]))
    found = remove(subject, [0], [order])
    predicted = subject.predicted[0]
    for i, sparsity in enumerate(SPARSITIES):
        kept = torch.zeros(5).index_fill(0, order[: size(sparsity, len(order))], 1.0)
        for presence, loss in ((kept, found.kept_loss), (1 - kept, found.without_loss)):
            scores = subject.scores(presence)[0]
            left = scores[predicted] / scores.sum()
            assert loss[0, i].item() == pytest.approx((found.everyone[0] - left).item(), abs=1e-6)
