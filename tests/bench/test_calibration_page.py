from pathlib import Path

from benchmarks import calibration, table

from ncgnn.models.ncgnn.config import Config, preset

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
    today = {"graph": "cora", "split": 0, "share": 0.5, "config": Config.make(preset("cora")).hash}
    assert calibration.is_measured([today], "cora", 0, 0.5)
    assert not calibration.is_measured([today | {"config": "0123456789ab"}], "cora", 0, 0.5)
    assert not calibration.is_measured([today], "cora", 1, 0.5)


def test_a_mean_is_of_one_configuration():
    rows = table.read(calibration.RESULTS)
    wrong = [row | {"config": "0123456789ab", "error_after": 9.0} for row in rows]
    assert calibration.render(PAGE, wrong + rows) == PAGE
