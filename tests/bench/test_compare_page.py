import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import compare, table

from ncgnn.models.ncgnn.config import Config, preset

PAGE = compare.PAGE.read_text("utf-8")


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(compare, "RESULTS", tmp_path / "splits.csv")
    return tmp_path / "splits.csv"


@pytest.fixture
def train(monkeypatch):
    """The command, with settings and rows made up, one for each model; it is called with the graph's name."""

    def set_up(settings: dict, while_running=lambda: None, models=compare.MODELS) -> None:
        found = {"rows": [{"model": name} for name in models]}

        def run(arguments: list[str], **_) -> SimpleNamespace:
            while_running()
            config = Config.make(preset(arguments[4]) | settings).model_dump(mode="json")
            return SimpleNamespace(stdout=json.dumps({"config": config, "comparison": found}))

        monkeypatch.setattr(subprocess, "run", run)

    return set_up


def keep(new: list[dict]) -> None:
    table.keep(compare.RESULTS, new, compare.KEY)


def rows(stamp: dict, split: int, accuracy: float, *names: str) -> list[dict]:
    """NCGNN and others half as good."""
    shared = stamp | {"graph": "texas", "split": split, "val_accuracy": 0.5, "seconds": 1.0, "judged": 37, "worse": 0}
    own = {"model": "NCGNN", "knows": "both", "test_accuracy": accuracy, "better": 0}
    others = [{"model": name, "knows": "features", "test_accuracy": accuracy / 2, "better": 30} for name in names]
    return [shared | row for row in (own, *others)]


def test_the_page_is_the_one_that_the_results_give():
    assert compare.render(PAGE, table.read(compare.RESULTS)) == PAGE, "run: python -m benchmarks.compare --report"


def test_what_is_not_measured_is_not_made_up(tmp_path: Path):
    assert compare.render(PAGE, table.read(tmp_path / "none.csv")).count("Not measured yet.") == 1


def test_a_row_of_the_table_is_the_mean_of_its_splits(stamp):
    text = compare.render(PAGE, rows(stamp, 0, 0.6, "MLP") + rows(stamp, 1, 0.8, "MLP"))
    verdict = "NCGNN is 35.0 points ahead of the runner-up, MLP, more than chance with 74 test nodes"
    assert f"| texas | 2 | - | - | - | - | 35.0 | - | - | - | 70.0 | {verdict}" in text


def test_a_model_that_some_splits_lack_is_not_shown(stamp):
    text = compare.render(PAGE, rows(stamp, 0, 0.6, "GCN", "MLP") + rows(stamp, 1, 0.8, "MLP"))
    assert "| texas | 2 | - | - | - | - | 35.0 | - | - | - | 70.0 |" in text


def test_a_mean_is_of_one_configuration(stamp):
    old, new = (rows(stamp | {"config": config}, split, 0.5 + 0.1 * split, "MLP") for split, config in enumerate("ab"))
    assert "| texas | 1 | - | - | - | - | 30.0 | - | - | - | 60.0 |" in compare.render(PAGE, old + new)


def test_rows_that_another_process_wrote_meanwhile_stay(results, train):
    train({}, lambda: keep([{"graph": "cora", "split": 0, "model": "NCGNN"}]), ["NCGNN"])
    keep(compare.measure("texas", 1))
    assert [(row["graph"], row["split"]) for row in table.read(results)] == [("cora", 0), ("texas", 1)]


def test_a_split_is_measured_again_once_the_settings_are_others(results, train):
    train({"lr": 0.123})
    keep(compare.measure("texas", 0))
    assert not compare.is_measured(table.read(results), "texas", 0)
    train({})
    keep(compare.measure("texas", 0))
    assert compare.is_measured(table.read(results), "texas", 0)
    assert not compare.is_measured(table.read(results), "texas", 1)
    assert len(table.read(results)) == len(compare.MODELS)


def test_a_split_is_measured_again_once_there_is_another_rival(results, train):
    train({}, models=compare.MODELS[1:])
    keep(compare.measure("texas", 0))
    assert not compare.is_measured(table.read(results), "texas", 0)


def test_rows_that_do_not_tell_their_settings_are_measured_again():
    assert not compare.is_measured([{"graph": "texas", "split": 0}], "texas", 0)
