"""``ncgnn train`` chooses settings by itself, and trains the final model on all labels."""

import csv
import json
import re
import subprocess
import time
from itertools import count

import numpy as np
import pandas as pd
import pytest
import torch

from helpers.papers import write_tables
from ncgnn.data import load_dataset, save_graph, split_per_class
from ncgnn.models import find_model
from ncgnn.models.ncgnn import NCGNNModel
from ncgnn.models.ncgnn.config import Config

SMALL = {"num_capsules": 2, "primary_channels": 8, "class_channels": 4, "epochs": 25, "patience": 8, "hops": [0, 1]}


@pytest.fixture(autouse=True)
def defaults(monkeypatch):
    """As for a user, but with two small candidates."""
    monkeypatch.delenv("NCGNN_SEARCH")
    monkeypatch.delenv("NCGNN_REFIT")
    candidates = {"small": Config.make(SMALL), "beliefs": Config.make(SMALL | {"groups": [{"reads": "beliefs"}]})}
    monkeypatch.setattr(NCGNNModel, "portfolio", lambda self, graph: candidates)


@pytest.fixture
def tables(here):
    write_tables(here, range(120))
    return ["--nodes", "nodes.csv", "--edges", "edges.csv", "--ignore", "note", "--categorical", "group"]


def read(path) -> dict:
    return json.loads(path.read_text())


def test_own_tables_are_searched_and_the_final_model_is_trained_on_all_labels(ncgnn, here, tables):
    done = ncgnn("train", *tables, "--label", "topic", "--out", "run")
    assert done.code == 0, done.err
    assert "## How it was chosen" in done.out
    assert "predicted by a model that had not seen their labels" in done.out
    assert "Compared with simpler models" in done.out
    assert "Simpler models had fewer epochs and settings than with `--compare`" in done.out
    chosen = done.out.split("## How it was chosen")[1].split("## ")[0]
    assert not re.search(r"validation nodes \(\d", chosen), "the one validation accuracy is in the tables"
    assert "time limit" not in done.out
    run = read(here / "run/run.json")
    assert run["search"]["level"] == "quick"
    labels = pd.read_csv("nodes.csv", dtype=str)
    predictions = pd.read_csv("run/predictions.csv", dtype=str, keep_default_na=False)
    labelled = predictions["label"] != ""
    assert run["refit"]["labels"] == labelled.sum()
    assert set(predictions["split"][labelled]) == {"train"}
    assert len(predictions) == len(labels)
    with (here / "run/search.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["step"] for row in rows} >= {"first", "candidates", "finalists", "rivals"}
    assert not (here / "run/search").exists()


def test_the_run_can_be_used_as_any_other(ncgnn, here, tables):
    assert ncgnn("train", *tables, "--label", "topic", "--out", "run").code == 0
    predicted = ncgnn("predict", "run", *tables, "--out", "again.csv")
    assert predicted.code == 0, predicted.err
    again, stored = (pd.read_csv(file, dtype=str) for file in ("again.csv", "run/predictions.csv"))
    assert list(again["predicted"]) == list(stored["predicted"])
    assert np.allclose(again["probability"].astype(float), stored["probability"].astype(float), atol=1e-6)
    node = str(stored["id"][0])
    explained = ncgnn("explain", "run", "--node", node, *tables)
    assert explained.code == 0, explained.err
    page = ncgnn("explain", "run", *tables, "--page", "page.html")
    assert page.code == 0, page.err


def test_the_same_command_gives_the_same_run(ncgnn, here, tables):
    runs = []
    for out in ("one", "two"):
        assert ncgnn("train", *tables, "--label", "topic", "--out", out).code == 0
        runs.append(read(here / out / "run.json"))
    for key in ("metrics", "search", "config", "refit"):
        assert runs[0][key] == runs[1][key]
    assert (here / "one/model.safetensors").read_bytes() == (here / "two/model.safetensors").read_bytes()


def test_without_refit_nodes_are_held_out_as_before(ncgnn, here, tables):
    assert ncgnn("train", *tables, "--label", "topic", "--no-refit", "--out", "run").code == 0
    assert "refit" not in read(here / "run/run.json")
    roles = set(pd.read_csv("run/predictions.csv", dtype=str)["split"].dropna())
    assert {"train", "val", "test"} <= roles


@pytest.fixture
def two_graphs(here) -> tuple[str, str]:
    """Files of one graph with one split; in the second, the labels of the test nodes are permuted."""
    data = split_per_class(load_dataset("karate"), 4, 12)
    save_graph(data, "own.npz")
    permuted = data.clone()
    permuted.y[data.test_mask] = data.y[data.test_mask].flip(0)
    assert not torch.equal(permuted.y, data.y)
    (here / "other").mkdir()
    save_graph(permuted, "other/own.npz")
    return "own.npz", "other/own.npz"


def figures(folder) -> dict:
    """All that a run reports of its search and its training, but for times."""
    run = read(folder / "run.json")
    tried = pd.read_csv(folder / "search.csv").drop(columns="seconds")
    metrics = {key: value for key, value in run["metrics"].items() if key != "test_accuracy"}
    sections = dict(part.split("\n", 1) for part in (folder / "report.md").read_text().split("\n## ")[1:])
    told = [sections[name] for name in ("What matters", "How far to trust the reasons")]
    history = (folder / "history.csv").read_text()
    return {"run": [run[key] for key in ("search", "config")], "tried": tried.to_csv(), "history": history} | {
        "metrics": metrics,
        "told": told,
    }


def test_no_label_that_was_held_out_influences_a_figure(ncgnn, here, two_graphs):
    """Permuting the test labels changes the final model, which is trained on them, but no figure except the test
    accuracy; and all figures are those of the same command without the last training."""
    own, permuted = two_graphs
    for out, graph, option in (("one", own, "--refit"), ("two", permuted, "--refit"), ("without", own, "--no-refit")):
        done = ncgnn("train", graph, option, "--calibrate", "0", "--out", out)
        assert done.code == 0, done.err
    assert figures(here / "one") == figures(here / "two") == figures(here / "without")
    one, two = ((here / out / "model.safetensors").read_bytes() for out in ("one", "two"))
    assert one != two
    found = pd.read_csv("without/predictions.csv").query("split == 'test'")
    right = (found["predicted"] == found["label"]).mean()
    assert read(here / "one/run.json")["metrics"]["test_accuracy"] == pytest.approx(right)
    assert read(here / "without/run.json")["metrics"]["test_accuracy"] == pytest.approx(right)


def test_a_search_that_was_cut_says_so_on_the_spot_in_the_report_and_in_the_run(ncgnn, here, tables, monkeypatch):
    seconds = count()
    monkeypatch.setattr("ncgnn.search.attempts.monotonic", lambda: next(seconds))
    monkeypatch.setattr("ncgnn.search.rounds.monotonic", lambda: 0)
    done = ncgnn("train", *tables, "--label", "topic", "--no-refit", "--minutes", "3", "--out", "run")
    assert done.code == 0, done.err
    assert re.search(r"note: .* split 0: the time limit ended the search after \d+ trainings? \(--minutes\)", done.err)
    assert "The time limit ended the search early: with more `--minutes`" in done.out
    assert "--epochs" not in done.out
    assert read(here / "run/run.json")["search"]["cut"] is True


def test_rivals_trained_to_their_end_are_not_called_brief(ncgnn, here, tables, monkeypatch):
    few = [find_model("label-propagation")]
    monkeypatch.setattr("ncgnn.compare.rivals", lambda own, of_search=False: few)
    done = ncgnn("train", *tables, "--label", "topic", "--no-refit", "--compare", "--out", "run")
    assert done.code == 0, done.err
    assert re.search(r"\| label propagation \| +graph and labels \|", done.out)
    assert "fewer epochs" not in done.out


def test_settings_of_ones_own_are_not_searched(ncgnn, here, tables):
    assert ncgnn("train", *tables, "--label", "topic", "--epochs", "5", "--out", "run").code == 0
    assert "search" not in read(here / "run/run.json")


def test_a_graph_with_a_preset_is_not_searched(ncgnn, here):
    assert ncgnn("train", "karate", "--out", "run").code == 0
    assert {"search", "refit"}.isdisjoint(read(here / "run/run.json"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--search", "deep"], "--search deep: must be none, quick or thorough"),
        (["--search", "quick", "--epochs", "5"], "a search chooses the settings itself: remove --epochs"),
        (["--search", "none", "--minutes", "2"], "nothing is searched: remove --minutes"),
        (["--minutes", "0"], "minutes = 0.0: must be positive"),
        (["--model", "label-propagation", "--refit"], "label propagation is not trained in epochs"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_one_line(ncgnn, here, tables, options, message):
    done = ncgnn("train", *tables, "--label", "topic", *options, "--out", "run")
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (here / "run/model.safetensors").exists()


@pytest.mark.long
def test_a_killed_search_continues_and_gives_the_same_model(command, here, tables, monkeypatch):
    """Killed in the middle of its trainings; what was finished is not trained again."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    arguments = [command, "train", *tables, "--label", "topic", "--out"]
    subprocess.run([*arguments, "whole"], cwd=here, check=True, capture_output=True)
    process = subprocess.Popen([*arguments, "killed"], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stored = here / "killed/search"
    until = time.monotonic() + 300
    while not stored.is_dir() or len(list(stored.glob("*.safetensors"))) < 4:
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate()
    finished = {file: file.stat().st_mtime_ns for file in stored.glob("*.safetensors")}
    assert not (here / "killed/model.safetensors").exists()
    again = subprocess.Popen([*arguments, "killed"], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while stored.is_dir() and again.poll() is None:
        now = {file: file.stat().st_mtime_ns for file in finished if file.exists()}
        assert all(finished[file] == time for file, time in now.items())
        time.sleep(0.2)
    assert again.wait(300) == 0
    again.communicate()
    for file in ("model.safetensors", "predictions.csv"):
        assert (here / "killed" / file).read_bytes() == (here / "whole" / file).read_bytes()


def test_an_own_split_with_overlapping_masks_is_refused(ncgnn, here):
    data = split_per_class(load_dataset("karate"), 4, 12)
    save_graph(data, "own.npz")
    with np.load("own.npz") as arrays:
        stored = dict(arrays)
    stored["test_masks"] = stored["train_masks"]
    np.savez("own.npz", **stored)
    done = ncgnn("train", "own.npz", "--out", "run")
    assert done.code == 2
    assert "overlap" in done.err
