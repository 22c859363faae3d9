"""Every model of the registry on the command line: listed, trained, used again; and models of one's own."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from ncgnn.classifier import NodeClassifier
from ncgnn.models import find_model, model_names
from ncgnn.models.base import registry

OWN = """
from torch_geometric.nn import GraphSAGE
from ncgnn.models import Model, TrainingSettings


class Settings(TrainingSettings):
    width: int = 8


class Sage(Model[Settings]):
    name, title, settings_class = "own-sage", "GraphSAGE", Settings

    def build(self, sizes, settings):
        return GraphSAGE(sizes.features, settings.width, num_layers=2, out_channels=sizes.classes)
"""
NO_REASONS = "ncgnn: GCN cannot be explained: train NCGNN for explained predictions\n"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def predictions_of_run(folder: Path) -> list[dict[str, str]]:
    """What ``predict`` says of the same nodes: it knows no split."""
    rows = rows_of((folder / "predictions.csv").read_text("utf-8"))
    return [{key: value for key, value in row.items() if key != "split"} for row in rows]


@pytest.fixture
def gcn_run(ncgnn, here) -> Path:
    """A run folder of a GCN of the karate club."""
    assert ncgnn("train", "karate", "--model", "gcn", "--epochs", 5, "--out", "runs/gcn").code == 0
    return here / "runs" / "gcn"


@pytest.fixture
def own_model(here, monkeypatch) -> str:
    """A model in a file of the working folder, which is forgotten after the test."""
    (here / "own_models.py").write_text(OWN, "utf-8")
    monkeypatch.setattr(registry, "_OWN", {})
    monkeypatch.setattr(registry, "_PATHS", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "own_models", None)
    del sys.modules["own_models"]
    return "own_models:Sage"


def test_every_model_is_listed(ncgnn):
    rows = {row["name"]: row for row in json.loads(ncgnn("models", "--json").out)}
    assert list(rows) == model_names()
    assert rows["ncgnn"]["variants"] == ["attention", "diffusion"]
    assert "cora-attention" in rows["ncgnn"]["presets"]
    assert rows["mlp"]["uses"] == "features"
    assert rows["label-propagation"]["uses"] == "graph and labels"


def test_the_table_has_a_line_for_each_model(ncgnn):
    done = ncgnn("models")
    assert (done.code, done.err) == (0, "")
    cells = [line.split("│") for line in done.out.splitlines() if "│" in line]
    assert {row[1].strip(): row[2].strip() for row in cells} == {name: find_model(name).title for name in model_names()}


@pytest.mark.parametrize("name", model_names())
def test_a_model_is_trained_and_saved_and_predicts_the_same_again(ncgnn, here, name):
    settings = find_model(name).settings_class
    epochs = ["--epochs", 5] if "epochs" in settings.model_fields else []
    done = ncgnn("train", "karate", "--model", name, *epochs, "--out", "run")
    said = [line for line in done.err.splitlines() if not line.startswith("... ")]  # progress, where that takes long
    assert (done.code, said) == (0, [])
    run = json.loads((here / "run/run.json").read_text("utf-8"))
    assert run["model"] == name
    assert run["config"] == settings.make(run["config"]).model_dump(mode="json")
    again = ncgnn("predict", "run", "karate")
    assert again.code == 0
    assert len(rows_of(again.out)) == 34
    assert rows_of(again.out) == predictions_of_run(here / "run")


@pytest.mark.parametrize(
    "options", [["--node", "33"], ["--out", "all.csv"], ["--page", "page.html"], ["--evaluate"]], ids=lambda one: one[0]
)
def test_a_model_without_reasons_is_not_explained(ncgnn, gcn_run, here, options):
    done = ncgnn("explain", gcn_run, "karate", *options)
    assert (done.code, done.out, done.err) == (2, "", NO_REASONS)
    assert [path.name for path in here.iterdir()] == ["runs"]


def test_the_report_of_a_model_without_reasons_does_not_advise_a_page(gcn_run):
    report = (gcn_run / "report.md").read_text("utf-8")
    assert "--page" not in report
    assert "Not available for models with hidden capsule layers or without capsules" in report


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "gnc"], r"unknown model 'gnc'; known: .*appnp, .* \(--model\)"),
        (["--model", "gcn", "--filter", "attention"], "GCN has no setting filter: remove --filter"),
        (["--model", "gcn", "--set", "hops=2"], "settings: unknown key 'hops'; known keys: .*width.*"),
        (["--model", "boosting", "--epochs", "5"], "gradient boosting has no setting epochs: remove --epochs"),
        (
            ["--model", "nowhere:Model"],
            r"nowhere:Model: no such model \(No module named 'nowhere'\); write package.module:Name",
        ),
        (["--model", "json:JSONDecoder"], "json:JSONDecoder: not a model: derive it from ncgnn.models.Model"),
    ],
)
def test_mistakes_end_with_a_line(ncgnn, here, own_model, options, message):
    done = ncgnn("train", "karate", *options)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(f"ncgnn: {message}\n", done.err)
    assert list(here.iterdir()) == [here / "own_models.py"]


def test_a_model_of_ones_own_is_trained_and_predicts_the_same_again(ncgnn, here, own_model):
    done = ncgnn("train", "karate", "--model", own_model, "--set", "width=4", "--epochs", 5, "--out", "run")
    assert (done.code, done.err) == (0, "")
    assert json.loads((here / "run/run.json").read_text("utf-8"))["config"]["width"] == 4
    again = ncgnn("predict", "run", "karate", "--model-class", own_model)
    assert rows_of(again.out) == predictions_of_run(here / "run")


def test_a_model_of_ones_own_has_to_be_named(ncgnn, here, own_model, monkeypatch):
    assert ncgnn("train", "karate", "--model", own_model, "--epochs", 1, "--out", "run").code == 0
    monkeypatch.setattr(registry, "_OWN", {})  # another process does not know it
    done = ncgnn("predict", "run", "karate")
    message = "run/model.safetensors: unknown model 'own-sage': register it first (--model-class package.module:Name)"
    assert (done.code, done.out, done.err) == (2, "", f"ncgnn: {message}\n")
    assert ncgnn("predict", "run", "karate", "--model-class", own_model).code == 0


def test_a_picture_of_a_model_without_capsules_is_refused_before_training(ncgnn, here):
    done = ncgnn("train", "karate", "--model", "gcn", "--picture", "--out", "run")
    assert (done.code, done.err) == (2, "ncgnn: --picture: GCN has no class capsules to plot\n")
    assert not (here / "run").exists()


def test_a_comparison_says_what_its_own_model_knows(ncgnn):
    out = ncgnn("train", "karate", "--model", "mlp", "--epochs", "2", "--compare", "--json").out
    rows = json.loads(out)["comparison"]["rows"]
    simple = ["label propagation", "gradient boosting", "linear GNN", "boosting with neighbours"]
    assert [row["model"] for row in rows] == ["MLP", *simple, "Correct and Smooth", "GCN", "APPNP"]
    assert rows[0]["knows"] == "features"


def test_the_settings_of_a_model_are_listed(ncgnn):
    rows = json.loads(ncgnn("models", "boosting", "--json").out)
    listed = {"trees": 100, "leaf": 5, "reduction": "best", "library": "scikit-learn", "seed": 0}
    assert {row["key"]: row["default"] for row in rows} == listed
    assert "dropout rate on the input of each layer" in ncgnn("models", "gcn").out


def test_a_step_of_a_model_without_steps_is_not_measured(ncgnn):
    done = ncgnn("bench", "karate", "--models", "boosting")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "gradient boosting is not trained step by step" in done.err


def test_a_model_that_builds_the_wrong_thing_ends_with_one_line(ncgnn, here, monkeypatch):
    monkeypatch.setattr(registry, "_OWN", {})
    for body, why in {
        "GIN(sizes.features, 8, 2, sizes.classes + 3)": "GIN gives 7 scores per node for 4 classes",
        "GIN(sizes.features, 8, 2, sizes.classes, dropout=2.0)": "GIN: dropout probability has to be between 0 and 1",
    }.items():
        name = f"bad_{len(why)}"
        (here / f"{name}.py").write_text(
            "from torch_geometric.nn import GIN\nfrom ncgnn.models import Model, TrainingSettings\n"
            "class Bad(Model[TrainingSettings]):\n"
            f"    name, title, settings_class = {name!r}, 'GIN', TrainingSettings\n"
            f"    def build(self, sizes, settings):\n        return {body}\n"
        )
        done = ncgnn("train", "karate", "--model", f"{name}:Bad", "--epochs", "2", "--out", "run")
        assert (done.code, len(done.err.strip().splitlines()[-1:])) == (2, 1)
        assert why in done.err
        assert not (here / "run" / "model.safetensors").exists()


def test_a_run_folder_is_loaded_as_its_model(ncgnn, here):
    assert ncgnn("train", "karate", "--model", "gcn", "--epochs", "2", "--out", "run").code == 0
    assert NodeClassifier.load(here / "run").definition.title == "GCN"
