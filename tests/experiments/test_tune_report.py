import csv
import tomllib

import pytest

from ncgnn.baselines import Settings
from ncgnn.experiments.tune import run
from ncgnn.experiments.tune_choice import choose
from ncgnn.experiments.tune_report import changed_settings, write_preset, write_trials
from ncgnn.train import Config
from small_search import Small, make_search


@pytest.fixture
def search(tmp_path):
    return make_search(tmp_path, trials=5)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (Config.make({}), ""),
        (
            Config.make({"lr": 0.01, "filter": "diffusion", "top_k": 64, "normalize_features": True}),
            'filter = "diffusion"\ntop_k = 64\nlr = 0.01\nnormalize_features = true\n',
        ),
        (Config.make({"hops": [0, 1], "zeta_prior": [2.0, 0.0]}), "hops = [0, 1]\nzeta_prior = [2.0, 0.0]\n"),
        (Config.make({"weight_decay": 1e-5}), "weight_decay = 1e-05\n"),
        (Settings.make({"decay": "first", "layers": 3}), 'layers = 3\ndecay = "first"\n'),
    ],
)
def test_a_preset_holds_what_differs_from_the_defaults_in_their_order(settings, text):
    assert changed_settings(settings) == text
    assert type(settings).make(tomllib.loads(text)) == settings


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
