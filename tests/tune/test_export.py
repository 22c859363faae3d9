import csv
import tomllib

import pytest

from helpers.small_search import Small, make_search
from ncgnn.models.ncgnn.config import Config
from ncgnn.tune.choice import choose
from ncgnn.tune.export import write_preset, write_trials
from ncgnn.tune.search import run


@pytest.fixture
def search(tmp_path):
    return make_search(tmp_path, trials=5)


def test_a_preset_says_how_it_was_found_and_reads_back(search, tmp_path):
    study = run(search)
    winner = choose(search, study, 2)
    write_preset(tmp_path / "p.toml", study, winner, "ncgnn tune karate", "2 splits")
    comments = [line for line in (tmp_path / "p.toml").read_text().splitlines() if line.startswith("# ")]
    assert comments[0] == "# ncgnn tune karate"
    assert comments[1].startswith("# trials: 5 complete, 0 pruned")
    assert f"{winner.accuracy:.4f} on 2 splits" in comments[2]
    assert f"trial {winner.trial.number} " in comments[3]
    assert Config.read(tmp_path / "p.toml") == winner.settings


def test_a_preset_stays_what_it_is_when_defaults_change(search, tmp_path):
    study = run(search)
    write_preset(tmp_path / "p.toml", study, choose(search, study, 1), "ncgnn tune karate", "2 splits")
    said = set(tomllib.loads((tmp_path / "p.toml").read_text()))
    config = Config.make({})
    unset = {name for name, value in config.model_dump().items() if value is None}
    assert set(Config.model_fields) - said == {"seed"} | unset | config.ignored


def test_the_table_has_a_row_for_every_trial(search, tmp_path):
    study = run(search)
    write_trials(tmp_path / "new" / "t.csv", study)
    with (tmp_path / "new" / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["number"]) for row in rows] == list(range(5))
    assert {row["state"] for row in rows} == {"complete"}
    for row, trial in zip(rows, study.get_trials(), strict=True):
        assert float(row["validation_accuracy"]) == pytest.approx(trial.value, abs=1e-6)
        assert {name: float(row[name]) for name in ("lr", "p")} == trial.params
    assert {name: float(rows[0][name]) for name in ("lr", "p")} == Small().points()[0]
