"""Class weights and coverage by class, for classes of very different size."""

import csv
import io
import json

import numpy as np
import pytest

from helpers.papers import QUICK

OPTIONS = ["--set", "hops=[0]", *QUICK, "--no-refit", "--search", "none"]


@pytest.fixture
def rare(here):
    """300 nodes, a sixth of them in a class that half looks like the other."""
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(300) % 6 == 0, "rare", "usual")
    values = rng.normal(np.where(labels == "rare", 1.0, 0.0), 0.7)
    rows = [f"{i},{label},{value:.3f}" for i, (label, value) in enumerate(zip(labels, values, strict=True))]
    (here / "n.csv").write_text("\n".join(["id,kind,size", *rows]) + "\n")
    (here / "e.csv").write_text("source,target\n" + "".join(f"{i},{(i + 1) % 300}\n" for i in range(300)))
    return ["--nodes", "n.csv", "--edges", "e.csv", "--label", "kind", "--fractions", 0.3, 0.4]


def recall(ncgnn, *options: object) -> float:
    rows = [row for row in csv.DictReader(io.StringIO(ncgnn("predict", *options).out)) if row["label"] == "rare"]
    return sum(row["predicted"] == "rare" for row in rows) / len(rows)


def test_balance_finds_more_of_a_rare_class(ncgnn, rare, here):
    for out, more in (("plain", []), ("balanced", ["--balance"])):
        assert ncgnn("train", *rare, *OPTIONS, "--epochs", 40, *more, "--out", out).code == 0
    assert recall(ncgnn, "balanced") > recall(ncgnn, "plain") + 0.1
    assert json.loads((here / "balanced/run.json").read_text())["config"]["balance"] is True


def test_models_that_cannot_balance_say_so(ncgnn, here):
    done = ncgnn("train", "karate", "--model", "label-propagation", "--balance")
    assert done.err == "ncgnn: label propagation has no setting balance: remove --balance\n"


def test_sets_with_coverage_by_class_beside_those_overall(ncgnn, rare):
    assert ncgnn("train", *rare, *OPTIONS, "--epochs", 20, "--calibrate", 0.5, "--out", "run").code == 0
    done = ncgnn("predict", "run", "--coverage", 0.8, "--class-coverage", 0.8)
    assert (done.code, done.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert list(rows[0])[-2:] == ["set", "class_set"]
    covered = {
        column: float(np.mean(["rare" in row[column].split("|") for row in rows if row["label"] == "rare"]))
        for column in ("set", "class_set")
    }
    assert covered["class_set"] > max(0.65, covered["set"])
    lines = ncgnn("predict", "run", "--class-coverage", 0.8, "--json").out.splitlines()
    assert [json.loads(line)["class_set"] for line in lines[:9]] == [row["class_set"].split("|") for row in rows[:9]]


def test_a_class_with_too_few_calibration_nodes_is_in_every_set_and_named(ncgnn, rare):
    assert ncgnn("train", *rare, *OPTIONS, "--epochs", 2, "--calibrate", 0.5, "--out", "run").code == 0
    done = ncgnn("predict", "run", "--class-coverage", 0.95)
    assert done.err == (
        "note: too few calibration nodes for a coverage of 0.95 of these classes, which are in every class_set: rare\n"
    )
    assert all("rare" in row["class_set"].split("|") for row in csv.DictReader(io.StringIO(done.out)))
