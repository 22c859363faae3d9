from dataclasses import replace

import pytest
from scipy.stats import false_discovery_control, t

from helpers.stored_rows import row
from ncgnn.experiments.cells import BASELINES, GCN, NCGNN_A, NCGNN_D, TUNED, Cell
from ncgnn.experiments.contest_tables import contest_table, graph_table
from ncgnn.experiments.contests import (
    GROUPS,
    clearly_best,
    columns,
    corrected,
    holm,
    own_cell,
    with_best,
    with_each,
)
from ncgnn.experiments.opening import opening
from ncgnn.experiments.rows import RunRow
from ncgnn.experiments.valid_runs import counted

WOBBLE = (0.00, 0.01, 0.02, -0.01, -0.02)


def on_five_splits(cell: Cell, mean: float, noise: float = 0.0, val: float = 0.5) -> list[RunRow]:
    """Accuracies around a mean; the noise has the opposite sign on every other split."""
    accuracies = [mean + wobble + noise * (-1) ** split for split, wobble in enumerate(WOBBLE)]
    return [
        row(cell, split, accuracy, hash=None)._replace(val_accuracy=str(val))
        for split, accuracy in enumerate(accuracies)
    ]


def cell(model: str, graph: str = "cora") -> Cell:
    return columns()[graph][model]


def test_holms_method_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_a_corrected_p_is_never_smaller_than_one_for_false_discoveries():
    values = [0.001, 0.2, 0.03, 0.04, 0.005]
    assert all(ours >= theirs for ours, theirs in zip(holm(values), false_discovery_control(values), strict=True))


def test_every_rival_is_in_one_group_with_its_tuned_settings():
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert {*BASELINES, GCN, *(TUNED[name] for name in BASELINES)} <= set(GROUPS["the paper's baselines"])
    assert len(columns()) == 21
    assert {model for cells in columns().values() for model in cells} >= set(names)


def test_each_graph_has_one_cell_a_model():
    assert cell(NCGNN_A).setting == "hops=5"
    assert cell(GCN).setting == "hops=3"  # the best depth of the paper
    assert cell("SGC").setting == "hops=best"


def test_a_difference_on_every_split_is_a_win_and_one_that_changes_its_sign_a_tie():
    """Differences of 3 points, with 4 or 40 times the noise; t = mean / (deviation / root of 5)."""
    rows = on_five_splits(cell(NCGNN_A), 0.83)
    for noise, outcome in ((0.004, "win"), (0.06, "tie")):
        (found,) = with_each(["SGC"], counted([*rows, *on_five_splits(cell("SGC"), 0.80, noise)]))
        differences = [3 - 100 * noise * (-1) ** split for split in range(5)]
        mean = sum(differences) / 5
        deviation = (sum((one - mean) ** 2 for one in differences) / 4) ** 0.5
        assert found.gap.mean == pytest.approx(mean)
        assert found.p == pytest.approx(2 * t.sf(mean / (deviation / 5**0.5), 4))
        assert found.outcome == outcome
    (found,) = with_each(["SGC"], counted([*rows, *on_five_splits(cell("SGC"), 0.86, 0.004)]))
    assert found.outcome == "loss"


def test_the_more_rivals_the_stronger_a_win_has_to_be():
    rows = on_five_splits(cell(NCGNN_A), 0.83)
    rivals = [name for name in BASELINES if name in columns()["cora"]][:6]
    for name in rivals:
        rows += on_five_splits(cell(name), 0.81, 0.009)
    assert with_each(rivals[:1], counted(rows))[0].outcome == "win"
    assert {contest.outcome for contest in with_each(rivals, counted(rows))} == {"tie"}


def test_equal_runs_are_a_tie_and_equal_differences_are_no_chance():
    rows = on_five_splits(cell(NCGNN_A), 0.83)
    for mean, outcome in ((0.83, "tie"), (0.80, "win")):
        (found,) = with_each(["SGC"], counted([*rows, *on_five_splits(cell("SGC"), mean)]))
        assert found.outcome == outcome


def test_one_common_split_is_no_contest():
    rows = [*on_five_splits(cell(NCGNN_A), 0.83), row(cell("SGC"), 0, 0.5)]
    assert with_each(["SGC"], counted(rows)) == []


def test_test_accuracy_chooses_neither_our_model_nor_the_rival():
    rows = on_five_splits(cell(NCGNN_A), 0.9, val=0.6) + on_five_splits(cell(NCGNN_D), 0.8, val=0.7)
    rows += on_five_splits(cell("SGC"), 0.95, val=0.5) + on_five_splits(cell("GAT"), 0.7, 0.001, val=0.8)
    runs = counted(rows)
    assert own_cell("cora", runs) == cell(NCGNN_D)
    (found,) = with_best(GROUPS["the paper's baselines"], runs)
    assert (found.rival, found.outcome) == ("GAT", "win")
    assert found.gap.mean == pytest.approx(10, abs=0.1)


def test_correction_keeps_the_order():
    contests = with_each(["SGC"], counted(on_five_splits(cell(NCGNN_A), 0.8) + on_five_splits(cell("SGC"), 0.7)))
    some = [replace(contests[0], rival=name, p=p) for name, p in (("a", 0.04), ("b", 0.01))]
    assert [(one.rival, one.p) for one in corrected(some)] == [("a", 0.04), ("b", 0.02)]


def test_the_best_is_only_marked_if_it_is_better_than_each_of_the_others():
    best, second, third = (cell(model) for model in (NCGNN_D, "SGC", "GAT"))
    rows = on_five_splits(best, 0.83) + on_five_splits(third, 0.7, 0.001)
    assert clearly_best([best, second, third], counted(rows)) == {best}
    rows += on_five_splits(second, 0.82, 0.03)
    assert clearly_best([best, second, third], counted(rows)) == set()
    assert clearly_best([best], counted(rows)) == set()


def test_the_best_of_a_table_is_marked_whatever_other_tables_hold():
    best, second = cell(NCGNN_A, "texas"), cell("GAT", "texas")
    again = replace(best, table="ablation")
    rows = on_five_splits(best, 0.83) + on_five_splits(second, 0.7, 0.001) + on_five_splits(again, 0.83)
    assert clearly_best([best, second, again], counted(rows)) == {best}


def test_the_page_opens_with_wins_ties_and_losses():
    rows = on_five_splits(cell(NCGNN_A), 0.83) + on_five_splits(cell("GAT"), 0.7, 0.001)
    rows += on_five_splits(cell("boosting with neighbours"), 0.9, 0.001)
    runs = counted(rows)
    text = "\n".join(opening(runs))
    assert "**Against the paper's baselines**: 1 win, 0 ties, 0 losses on 1 graph, +13.0 points on average" in text
    assert "**Against today's rivals**: not run yet." in text
    assert "(loss: cora). Run: 1 of " in text
    table = {line[0]: line[1:] for line in contest_table(runs).rows}
    assert table["best of the paper's baselines"][:4] == table["GAT"][:4] == [1, 1, 0, 0]
    assert table["boosting with neighbour features"][:4] == [1, 0, 0, 1]
    lines = {(line[0], line[3]): line for line in graph_table(runs).rows}
    assert lines["cora", "boosting with neighbour features"][1:3] == ["NCGNN-A", "boosting with neighbours"]
    assert lines["cora", "the paper's baselines"][-1] == "win"
    assert len(lines) == 2
