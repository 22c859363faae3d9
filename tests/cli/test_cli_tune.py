import json
import sys
import tomllib
from pathlib import Path

import pytest

from helpers.papers import contents
from ncgnn.data import load_dataset, save_graph
from ncgnn.models.base.presets import preset_path
from ncgnn.models.gcn import GCNSettings
from ncgnn.models.ncgnn import NCGNNModel

QUICK = ("--trials", 1, "--splits", 1, "--confirm", 1)


@pytest.fixture
def tuned(ncgnn, here):
    """The karate club, tuned as shortly as possible."""
    return ncgnn("tune", "karate", *QUICK)


def test_it_leaves_a_preset_that_train_takes_and_a_table(ncgnn, here, tuned):
    assert (tuned.code, tuned.err) == (0, "")
    assert tuned.out.splitlines()[0].startswith("trial   0  validation ")
    assert tuned.out.splitlines()[-1].endswith("settings written to karate-attention.toml")
    assert sorted(path.name for path in (here / "results/studies").iterdir()) == [
        "karate-attention.csv",
        "karate-attention.db",
        "karate-attention.lock",
    ]
    text = (here / "karate-attention.toml").read_text()
    assert "# ncgnn tune karate --filter attention --trials 1 --splits 1 --confirm 1 --seed 0\n" in text
    assert tomllib.loads(text)["dropout"] == 0.5  # as the preset of the graph, which is tried first
    done = ncgnn("train", "karate", "--config", "karate-attention.toml", "--set", "epochs=2")
    assert done.code == 0


def test_again_it_runs_nothing_and_finds_the_same(ncgnn, here, tuned):
    before = (here / "karate-attention.toml").read_text()
    again = ncgnn("tune", "karate", *QUICK)
    assert again.out.splitlines() == tuned.out.splitlines()[-1:]
    assert (here / "karate-attention.toml").read_text() == before


def test_export_only_runs_no_trial_and_writes_both_files_again(ncgnn, here, tuned):
    Path("results/studies/karate-attention.csv").unlink()
    done = ncgnn("tune", "karate", "--splits", 1, "--confirm", 1, "--export-only", "--out", "new/found.toml")
    assert done.code == 0
    assert done.out.count("\n") == 1
    assert Path("results/studies/karate-attention.csv").read_text().count("\n") == 2
    assert "dropout" in Path("new/found.toml").read_text()


def test_json_is_alone_on_standard_output(ncgnn, here):
    done = ncgnn("tune", "karate", *QUICK, "--json")
    result = json.loads(done.out)
    assert result["trials"] == {"complete": 1, "pruned": 0}
    assert result["settings"]["dropout"] == 0.5
    assert result["preset"] == "karate-attention.toml"
    assert done.err.startswith("trial   0 ")


def test_a_gcn_is_tuned_alike_and_its_settings_lie_here_too(ncgnn, here):
    done = ncgnn("tune", "karate", "--model", "gcn", *QUICK)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1].endswith("settings written to karate-gcn.toml")
    text = Path("karate-gcn.toml").read_text()
    assert "# ncgnn tune karate --model gcn " in text
    assert GCNSettings.make(tomllib.loads(text)).model == "gcn"
    assert Path("results/studies/karate-gcn.csv").exists()
    assert not preset_path("gcn", "karate").exists()  # nothing is written into the package


def test_own_tables_are_tuned(ncgnn, here, tables):
    done = ncgnn("tune", *tables, "--id", "paper", "--label", "topic", "--source", "from", "--target", "to", *QUICK)
    assert (done.code, done.err) == (0, "")
    assert Path("nodes-attention.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("karate", "--model", "gnat"), "unknown model 'gnat'; did you mean 'gat'? (--model)"),
        (("karate", "--filter", "none"), "--filter none: unknown filter; known: attention, diffusion"),
        (("karate", "--model", "gcn", "--filter", "attention"), "--filter attention: GCN has none"),
        (("karate", "--out", "."), "--out .: is a folder: give a file name"),
        (("karate", "--export-only"), "study 'karate-attention' has no complete trial: run more trials (--trials)"),
        (("nowhere.npz",), "nowhere.npz: "),
        (("karate", "--storage", "nonsense"), "the database cannot be used ("),
        ((), "give one graph: "),
    ],
)
def test_mistakes_are_one_line(ncgnn, here, arguments, message):
    done = ncgnn("tune", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ncgnn: {message}")
    assert done.err.count("\n") == 1
    assert not [name for name in contents(here) if name.endswith(".toml")]


def test_a_file_that_is_no_database_is_named(ncgnn, here):
    folder = here / "results/studies"
    folder.mkdir(parents=True)
    (folder / "karate-attention.db").write_text("no database, but long enough to be read as the head of one" * 20)
    done = ncgnn("tune", "karate", *QUICK)
    assert done.code == 2
    assert done.err.startswith("ncgnn: results/studies/karate-attention.db: cannot be used as a database (")
    assert done.err.endswith(": move it away, or choose another storage (--storage)\n")


def test_without_optuna_it_says_what_to_install(ncgnn, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert ncgnn("tune", "karate").err.startswith("ncgnn: ncgnn tune requires optuna: pip install 'optuna")


def test_a_file_called_like_a_built_in_dataset_is_searched_as_any_graph(ncgnn, here, monkeypatch):
    """Neither its preset nor its largest hop are looked up by the name."""
    asked = set()

    def points(self, graph, variant=""):
        asked.add(graph)
        return []

    monkeypatch.setattr(NCGNNModel, "points", points)
    save_graph(load_dataset("karate"), here / "cora.npz")
    assert ncgnn("tune", "cora.npz", "--trials", "1", "--confirm", "1").code == 0
    assert asked == {""}
