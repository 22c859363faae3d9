import pytest

from helpers.stored_rows import row
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.expected import expected_seconds, plan_table
from ncgnn.experiments.one_run import Run
from ncgnn.experiments.recipes import recipe


def cell(dataset: str, model: str) -> Cell:
    return Cell("5", dataset, "48/32/20", model)


def taking(dataset: str, model: str, seconds: float):
    return row(cell(dataset, model), 0, 0.5)._replace(seconds=str(seconds))


ROWS = [taking("texas", "GCN", 1), taking("texas", "MLP", 2), taking("actor", "GCN", 10)]


def test_a_model_that_ran_on_a_graph_takes_as_long_again():
    assert expected_seconds(ROWS)(cell("actor", "GCN")) == pytest.approx(10)


def test_a_model_that_takes_longer_on_one_graph_takes_longer_on_another():
    seconds = expected_seconds([*ROWS, taking("actor", "MLP", 20), taking("texas", "GAT", 8)])
    ratio = seconds(cell("actor", "GAT")) / seconds(cell("actor", "GCN"))
    assert 2 < ratio < 8
    assert seconds(cell("actor", "SGC")) > seconds(cell("texas", "SGC"))


def test_the_plan_counts_runs_and_hours_cheapest_first():
    runs = [
        Run(one, split, 0, recipe(one), "any")
        for one, splits in ((cell("actor", "GCN"), 3), (cell("texas", "GCN"), 2))
        for split in range(splits)
    ]
    table = plan_table(runs, expected_seconds(ROWS))
    assert [line[:3] for line in table.rows] == [["5", "texas", 2], ["5", "actor", 3]]
    assert table.rows[1][3:] == pytest.approx([10, 30 / 3600, 32 / 3600])
