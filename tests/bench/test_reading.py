"""docs/own-data.md says what results/reading.csv says."""

from pathlib import Path

from benchmarks import reading, table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/own-data.md").read_text("utf-8")


def test_the_page_is_the_one_that_the_results_give():
    assert reading.render(PAGE, table.read(ROOT / "results/reading.csv")) == PAGE, "run: python -m benchmarks.reading"


def test_tables_are_written_and_all_steps_measured(tmp_path, stamp):
    rows = reading.measure(reading.write_tables(tmp_path, 9000))
    assert [row["step"] for row in rows] == ["read", "split and standardise", "check"]
    assert all(row["rows"] == 6 * 9000 for row in rows)
    text = reading.render(PAGE, [stamp | row for row in rows])
    assert "| read | 9000 | 54000 |" in text
