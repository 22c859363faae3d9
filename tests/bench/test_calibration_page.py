from pathlib import Path

from benchmarks import calibration, table

PAGE = calibration.PAGE.read_text("utf-8")


def test_the_page_is_the_one_that_the_results_give():
    assert calibration.render(PAGE, table.read(calibration.RESULTS)) == PAGE, (
        "run: python -m benchmarks.calibration --report"
    )


def test_what_is_not_measured_is_not_made_up(tmp_path: Path):
    text = calibration.render(PAGE, table.read(tmp_path / "none.csv"))
    assert text.count("Not measured yet.") == 2


def test_every_run_is_ordered_once():
    orders = list(calibration.orders())
    assert len(orders) == len(set(orders)) == 90


def test_only_rows_with_the_settings_of_today_count():
    rows = table.read(calibration.RESULTS)
    assert calibration.is_measured(rows, "cora", 0, 0.5)
    assert not calibration.is_measured([row | {"config": "0123456789ab"} for row in rows], "cora", 0, 0.5)
