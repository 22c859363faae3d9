import csv

import pytest

from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.recipes import config_hash, recipe
from ncgnn.experiments.render import markdown, write_report
from ncgnn.experiments.report import NOT_RUN, counted, defaults, margins, preset_cell, tables
from ncgnn.experiments.rows import Row

TEXAS = Cell("5", "texas", "48/32/20", "NCGNN-A")


def row(cell: Cell, split: int, accuracy: float, hash: str | None = None, seed: int = 0) -> Row:
    identity = (cell.table, cell.dataset, cell.setting, cell.model, str(split), str(seed))
    values = ("0.5", str(accuracy), "", "1", "1.0", "0.1.0", "2.13", "2.8", "2.4", "c0ffee+")
    return Row(*identity, hash or config_hash(recipe(cell)), *values)


def line(rows: list[Row], cell: Cell) -> dict:
    table = next(table for table in tables(counted(rows)) if table.name == f"table{cell.table}")
    found = [r for r in table.rows if r[:3] == [cell.dataset, cell.setting, cell.model]]
    assert len(found) == 1
    return dict(zip(table.columns, found[0], strict=True))


def test_no_cell_is_hidden_and_what_was_not_run_says_so():
    found = tables(counted([]))
    assert sum(len(table.rows) for table in found) == len(all_cells())
    assert {row[10] for table in found for row in table.rows} == {NOT_RUN}
    assert markdown([]).count(NOT_RUN) >= len(all_cells())


def test_a_cell_says_mean_interval_and_verdict():
    rows = [row(TEXAS, split, 0.80 + 0.02 * (split % 2)) for split in range(10)]
    found = line(rows, TEXAS)
    assert (found["runs"], found["splits"], found["protocol"]) == (10, 10, "quick")
    assert found["accuracy"] == pytest.approx(81)
    assert found["difference"] == pytest.approx(81 - 84.43)
    assert found["verdict"] == "below"


def test_rows_of_other_settings_do_not_count():
    rows = [row(TEXAS, 0, 0.9), row(TEXAS, 1, 0.1, hash="older")]
    assert line(rows, TEXAS)["accuracy"] == pytest.approx(90)
    assert line(rows, TEXAS)["protocol"] == "partial"
    assert "1 of 2 stored runs are counted" in markdown(rows)
    assert "c0ffee+ (1 runs)" in markdown(rows)


def test_margins_stand_beside_the_papers():
    gcn = Cell("5", "texas", "48/32/20", "GCN")
    rows = [row(TEXAS, 0, 0.8), row(TEXAS, 1, 0.9), row(gcn, 0, 0.6), row(gcn, 1, 0.6)]
    table = margins(counted(rows))
    found = next(r for r in table.rows if r[0] == "texas")
    assert found[3] == pytest.approx(25)
    assert found[5] == pytest.approx(84.43 - 59.46)
    assert found[6] == NOT_RUN


def test_default_and_preset_are_compared_on_common_splits():
    default = Cell("default", "texas", "48/32/20", "NCGNN default")
    rows = [row(TEXAS, 0, 0.8), row(TEXAS, 1, 0.9), row(default, 0, 0.5)]
    found = next(r for r in defaults(counted(rows)).rows if r[0] == "texas")
    assert found[1::2] == pytest.approx([50, 85, 30])


def test_the_preset_of_a_citation_graph_is_the_column_of_its_farthest_hop():
    cell = preset_cell("pubmed")
    assert config_hash(recipe(cell)) == config_hash(recipe(Cell("x", "pubmed", "any", "NCGNN-A")))


def test_the_files_hold_what_the_page_shows(tmp_path):
    write_report([row(TEXAS, 0, 0.8)], tmp_path / "tables", tmp_path / "results.md")
    with (tmp_path / "tables/table5.csv").open() as file:
        found = next(line for line in csv.DictReader(file) if line["dataset"] == "texas" and line["model"] == "NCGNN-A")
    assert found["accuracy"] == "80.00"
    assert "| texas | 48/32/20 | NCGNN-A | 1 | 1 | partial | 80.00 |" in (tmp_path / "results.md").read_text()
    assert len(list((tmp_path / "tables").glob("*.csv"))) == 9
