import json
import re

import pytest

from helpers.papers import FILES, QUICK
from helpers.stand_in_models import stand_in
from ncgnn.compare import rivals
from ncgnn.errors import InputError

OPTIONS = ["--epochs", 2, *QUICK, "--compare"]
SIMPLEST = ["label propagation", "gradient boosting", "linear GNN", "boosting with neighbours"]
MODELS = ["NCGNN", *SIMPLEST, "MLP", "Correct and Smooth", "GCN", "APPNP"]


@pytest.fixture
def quick_rivals(monkeypatch):
    """The real ones take seconds each; here the same names predict at once."""
    known = [stand_in(rival.title, rival.knows, lambda data: data.y) for rival in rivals("ncgnn")]
    monkeypatch.setattr("ncgnn.compare.rivals", lambda own: known)


def test_simpler_models_stand_beside_ncgnn_on_the_same_split(ncgnn, tables, here):
    done = ncgnn("train", *tables, "--label", "topic", *OPTIONS)
    said = [line for line in done.err.splitlines() if not line.startswith("... ")]  # progress, where it takes long
    assert (done.code, said) == (0, [])
    uses = "(?:features and graph|graph and labels|features)"
    assert re.findall(rf"^\| (\S[^|]*?) +\| +{uses} \|", done.out, re.MULTILINE) == MODELS
    run = json.loads((here / "runs/nodes/run.json").read_text())
    found = run["comparison"]
    assert [row["model"] for row in found["rows"]] == MODELS
    assert found["rows"][0]["test_accuracy"] == run["metrics"]["test_accuracy"]
    assert {row["judged"] for row in found["rows"]} == {run["split"]["test"]}
    assert found["use"] in MODELS
    assert f"Verdict: {found['verdict']}." in done.out
    assert f"Verdict: {found['verdict']}." in (here / "runs/nodes/report.md").read_text()


@pytest.mark.usefixtures("quick_rivals")
def test_several_splits_have_one_verdict(ncgnn):
    done = ncgnn("train", "karate", *OPTIONS, "--splits", 2)
    assert done.out.count("Verdict: ") == 1
    assert "Means over 2 splits:" in done.out
    assert "Verdict: the graph and its labels alone do" in done.out
    runs = json.loads(ncgnn("train", "karate", *OPTIONS, "--splits", 2, "--json", "--overwrite").out)
    assert [run["comparison"]["use"] for run in runs] == ["label propagation"] * 2


@pytest.mark.usefixtures("quick_rivals")
def test_without_test_nodes_the_verdict_is_about_validation_nodes(ncgnn):
    done = ncgnn("train", "karate", *OPTIONS, "--fractions", 0.5, 0.5)
    assert re.search(r"\d validation nodes correct, NCGNN", done.out)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("too few nodes"), 2, "ncgnn: stubborn: too few nodes\n"),
        (KeyboardInterrupt(), 130, "ncgnn: stopped\n"),
    ],
    ids=["fault", "Ctrl-C"],
)
def test_a_rival_that_fails_does_not_cost_the_model(ncgnn, here, monkeypatch, error, code, line):
    def fail(data):
        raise error

    monkeypatch.setattr("ncgnn.compare.rivals", lambda own: [stand_in("stubborn", "both", fail)])
    done = ncgnn("train", "karate", *OPTIONS)
    assert (done.code, done.err) == (code, line)
    assert sorted(path.name for path in (here / "runs/karate").iterdir()) == FILES
    assert "comparison" not in json.loads((here / "runs/karate/run.json").read_text())
    assert ncgnn("predict", "runs/karate", "karate").code == 0
