from dataclasses import replace

import pytest

from ncgnn.compare import Compared, judge, mean_rows
from ncgnn.compare.verdict import is_chance


def row(
    model: str, test: float | None, knows: str = "both", better: int = 0, worse: int = 0, val: float = 0.5
) -> Compared:
    return Compared(model, knows, val, test, 1.0, 1000, better, worse)


def test_the_simplest_of_those_that_are_as_good_is_named():
    rows = [row("NCGNN", 0.80), row("boosting", 0.797, "features", 40, 37), row("GCN", 0.80)]
    verdict = judge(rows)
    assert verdict.use == "boosting"
    how = "79.7% of 1000 test nodes correct, NCGNN 80.0%"
    assert verdict.text == f"features alone do as well ({how}): use boosting, unless you need explanations"


def test_as_good_as_ncgnn_is_not_enough_where_another_is_better():
    rows = [row("NCGNN", 0.80), row("boosting", 0.80, "features"), row("GCN", 0.85, "both", 20, 70)]
    assert judge(rows).use == "GCN"
    assert judge(rows).text.startswith("a simpler model of features and graph does better (85.0%")


def test_better_by_what_may_be_chance_is_called_as_well():
    rows = [row("NCGNN", 0.80), row("propagation", 0.82, "graph", 100, 120)]
    assert judge(rows).text.startswith("the graph and its labels alone do as well (82.0%")


@pytest.mark.parametrize(("judged", "disagree", "smallest"), [(2, 0, "100"), (33, 4, "12")])
def test_few_nodes_only_allow_a_guess(judged, disagree, smallest):
    rows = [replace(one, judged=judged) for one in (row("NCGNN", 0.8), row("MLP", 0.8, "features", disagree))]
    assert judge(rows).text.endswith(
        f"but differences below {smallest} points cannot be detected with so few nodes: compare on more splits;"
        " until then, MLP is the best guess"
    )


def test_ncgnn_where_it_is_ahead_by_more_than_chance():
    rows = [row("NCGNN", 0.80), row("MLP", 0.60, "features", 250, 50), row("GCN", 0.76, "both", 60, 20)]
    assert judge(rows).use == "NCGNN"
    expected = "NCGNN is 4.0 points ahead of the runner-up, GCN, more than chance with 1000 test nodes: use NCGNN"
    assert judge(rows).text == expected


def test_a_lead_that_may_be_chance_is_called_so():
    rows = [row("NCGNN", 0.80), row("GCN", 0.79, "both", 60, 50)]
    said = "with 1000 test nodes this may be chance: compare on more splits; until then, NCGNN is the best guess"
    assert judge(rows).text.endswith(said)


@pytest.mark.parametrize(("better", "worse", "expected"), [(0, 0, True), (4, 0, True), (5, 0, False), (60, 40, True)])
def test_chance_is_two_standard_errors(better, worse, expected):
    assert is_chance(row("GCN", 0.5, "both", better, worse)) is expected
    assert is_chance(row("GCN", 0.5, "both", worse, better)) is expected


def test_validation_nodes_are_called_so_where_they_decide():
    rows = [row("NCGNN", None, val=0.8), row("GCN", None, val=0.9, worse=100)]
    assert "of 1000 validation nodes correct" in judge(rows).text


def test_splits_are_averaged_and_their_nodes_added_up():
    splits = [[row("NCGNN", 0.7), row("GCN", 0.6, better=110)], [row("NCGNN", 0.9), row("GCN", 0.7, better=190)]]
    own, gcn = mean_rows(splits)
    assert own.test_accuracy == pytest.approx(0.8)
    assert gcn.test_accuracy == pytest.approx(0.65)
    assert (gcn.judged, gcn.better, gcn.worse) == (2000, 300, 0)


def test_what_may_be_chance_recommends_nothing():
    few = [replace(one, judged=33) for one in (row("NCGNN", 0.8), row("MLP", 0.8, "features"))]
    lead = [row("NCGNN", 0.80), row("GCN", 0.79, "both", 60, 50)]
    assert judge(few).use is None
    assert judge(lead).use is None


def test_a_rival_that_is_far_ahead_on_few_nodes_is_not_said_to_do_as_well():
    rows = [replace(one, judged=47) for one in (row("NCGNN", 0.83), row("GCN", 0.936, "both", 2, 7))]
    assert judge(rows).text.startswith("GCN is ahead (93.6% of 47 test nodes correct, NCGNN 83.0%), but differences")
