import csv
import io
import json
from pathlib import Path

import pytest

from helpers.papers import QUICK, write_tables

NODES = range(700)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def options(here) -> list[str]:
    write_tables(here, NODES)
    return ["--nodes", "nodes.csv", "--edges", "edges.csv"]


@pytest.fixture
def model(ncgnn, here, options) -> Path:
    """Trained on tables with enough validation nodes, so that half of these are set aside."""
    ignored = ["--ignore", "note", "--ignore", "venue", "--ignore", "group"]
    done = ncgnn("train", *options, *ignored, "--label", "topic", "--epochs", 10, *QUICK, "--out", "run")
    assert done.code == 0
    assert "56 validation, 56 calibration, 112 test)" in done.out
    return here / "run"


def test_own_tables_are_calibrated_where_there_are_enough_nodes(ncgnn, model, options):
    run = json.loads((model / "run.json").read_text())
    assert (run["split"]["val"], run["split"]["calibration"]) == (56, 56)
    roles = [row["split"] for row in rows_of((model / "predictions.csv").read_text())]
    assert roles.count("calibration") == 56
    assert ncgnn("predict", model, *options).err == ""


def test_none_are_set_aside_where_that_is_asked(ncgnn, options, here):
    train = ["train", *options, "--ignore", "note", "--label", "topic", "--epochs", 1, *QUICK]
    assert "112 validation, 112 test)" in ncgnn(*train, "--calibrate", 0, "--out", "none").out
    assert "90 calibration, " in ncgnn(*train, "--calibrate", 0.8, "--out", "most").out


def test_a_set_names_the_likely_classes(ncgnn, model, options):
    rows = rows_of(ncgnn("predict", model, *options, "--coverage", 0.95).out)
    assert list(rows[0]) == ["id", "label", "predicted", "probability", "margin", "set"]
    for row in rows:
        assert row["set"] in {"", row["predicted"], "graphs|logic, old", "logic, old|graphs"}
        assert not row["set"] or row["set"].startswith(row["predicted"])
    objects = [
        json.loads(line) for line in ncgnn("predict", model, *options, "--coverage", 0.95, "--json").out.splitlines()
    ]
    assert ["|".join(row["set"]) for row in objects] == [row["set"] for row in rows]


def test_no_class_is_predicted_below_the_least_confidence(ncgnn, model, options):
    everything = rows_of(ncgnn("predict", model, *options).out)
    middle = sorted(float(row["probability"]) for row in everything)[350]
    done = ncgnn("predict", model, *options, "--min-confidence", middle)
    blank = [row["predicted"] == "" for row in rows_of(done.out)]
    assert blank == [float(row["probability"]) < middle for row in everything]
    assert done.err == f"note: class left blank for {sum(blank)} of 700 nodes\n"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            ["--coverage", 0.99],
            "a coverage of 0.99 needs at least 99 held-out nodes, but the model has 56",
        ),
        (["--coverage", 1], "the coverage must be above 0 and below 1"),
    ],
)
def test_what_cannot_be_promised_is_refused(ncgnn, model, options, option, message, here):
    done = ncgnn("predict", model, *options, *option, "--out", "p.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ncgnn: {message}")
    assert not (here / "p.csv").exists()


@pytest.mark.parametrize("option", [["--coverage", 0.9], ["--min-confidence", 0.8]])
def test_a_model_without_calibration_promises_nothing(ncgnn, karate_run, option):
    done = ncgnn("predict", karate_run, "karate", *option)
    assert (done.code, done.out) == (2, "")
    assert "the model is not calibrated: train" in done.err
    assert ncgnn("predict", karate_run, "karate").err.startswith("note: probabilities are uncalibrated")


def test_too_few_validation_nodes_are_refused_before_training(ncgnn, here):
    done = ncgnn("train", "karate", "--calibrate", 0.5)
    assert done.code == 2
    assert done.err.startswith("ncgnn: 0.5 of 7 validation nodes is 4, but calibration needs at least 20")
    assert list(here.iterdir()) == []
