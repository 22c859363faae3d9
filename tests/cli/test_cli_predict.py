import csv
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from helpers.papers import FILES, QUICK, contents, node_rows, write_csv, write_tables
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, save_graph, split_per_class

TABLES = ["--nodes", "nodes.csv", "--edges", "edges.csv"]
NOTE = "note: probabilities are uncalibrated; use them for ranking only\n"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def topics(ncgnn, tables, here) -> Path:
    """A run folder of the model that was trained on the tables."""
    assert ncgnn("train", *tables, "--label", "topic", "--epochs", 40, *QUICK, "--out", "runs/topics").code == 0
    return here / "runs" / "topics"


def test_the_tables_of_the_training_give_the_predictions_of_the_training(ncgnn, topics):
    done = ncgnn("predict", "runs/topics", "--nodes", "nodes.csv", "--edges", "edges.csv")
    assert (done.code, done.err) == (0, NOTE)
    trained = rows_of((topics / "predictions.csv").read_text())
    assert list(trained[0]) == ["id", "label", "split", "predicted", "probability", "margin"]
    assert rows_of(done.out) == [{k: v for k, v in row.items() if k != "split"} for row in trained]
    assert [row["id"] for row in trained] == [f"{i:03d}" for i in range(60)]


def test_other_tables_with_new_nodes_a_new_category_and_no_label(ncgnn, topics, here):
    write_tables(here / "later", range(40, 90), topics=False)
    rows = node_rows(range(40, 90), topics=False)[::-1]
    rows[4]["venue"] = rows[9]["venue"] = "NeurIPS"
    write_csv(here / "later" / "nodes.csv", rows)
    done = ncgnn("predict", topics / "model.safetensors", "--nodes", "later/nodes.csv", "--edges", "later/edges.csv")
    assert done.code == 0
    assert done.err == f"note: column 'venue': 1 unknown category in 2 rows, taken as blank (first: 'NeurIPS')\n{NOTE}"
    found = rows_of(done.out)
    assert [row["id"] for row in found] == [row["paper"] for row in rows]
    assert {row["label"] for row in found} == {""}
    right = [row["predicted"] == ("graphs", "logic, old")[int(row["id"]) % 2] for row in found]
    assert np.mean(right) > 0.8


def test_the_result_can_go_to_a_file(ncgnn, topics, here):
    options = ["--nodes", "nodes.csv", "--edges", "edges.csv"]
    shown = ncgnn("predict", "runs/topics", *options)
    before = contents(here)
    done = ncgnn("predict", "runs/topics", *options, "--out", "p.csv")
    assert (done.code, done.out, done.err) == (0, "", NOTE)
    assert contents(here) == before | {"p.csv": shown.out.encode()}


def test_json_has_an_object_a_line(ncgnn, karate_run):
    table = rows_of(ncgnn("predict", karate_run, "karate").out)
    objects = [json.loads(line) for line in ncgnn("predict", karate_run, "karate", "--json").out.splitlines()]
    assert [{key: str(value) for key, value in row.items()} for row in objects] == table
    assert isinstance(objects[0]["probability"], float)


def test_a_named_graph_is_predicted_as_in_python(ncgnn, karate_run):
    found = rows_of(ncgnn("predict", karate_run, "karate").out)
    loaded = NCGNNClassifier.load(karate_run / "model.safetensors")
    karate = load_dataset("karate")
    assert [row["predicted"] for row in found] == loaded.predict(karate).astype(str).tolist()
    np.testing.assert_allclose(
        [float(row["probability"]) for row in found], loaded.predict_proba(karate).max(axis=1), atol=1e-6
    )


def test_predicting_changes_nothing_on_disk(ncgnn, old_run, here):
    before = contents(here)
    assert ncgnn("predict", old_run, "karate").code == 0
    assert contents(here) == before
    assert set(os.listdir(old_run)) == {*FILES, "capsules.png"}


def test_columns_may_be_called_otherwise_than_in_training(ncgnn, topics, here):
    text = (here / "nodes.csv").read_text().replace('"paper"', '"key"').replace('"topic"', '"subject"')
    (here / "n.csv").write_text(text)
    (here / "e.csv").write_text((here / "edges.csv").read_text().replace('"from","to"', '"cited","citing"'))
    options = ["--id", "key", "--label", "subject", "--source", "citing", "--target", "cited"]
    done = ncgnn("predict", topics, "--nodes", "n.csv", "--edges", "e.csv", *options)
    assert done.code == 0
    assert done.out == ncgnn("predict", topics, "--nodes", "nodes.csv", "--edges", "edges.csv").out


def test_new_rows_alone_are_noticed(ncgnn, topics, here):
    write_csv(here / "n.csv", node_rows(range(100, 104)))
    write_csv(here / "e.csv", [{"from": "100", "to": "100"}])
    done = ncgnn("predict", topics, "--nodes", "n.csv", "--edges", "e.csv")
    assert done.code == 0
    assert "note: 4 of 4 nodes have no edges, but predictions depend on neighbours: pass the full tables" in done.err


def test_a_label_that_the_model_does_not_know(ncgnn, topics, here):
    text = (here / "nodes.csv").read_text()
    (here / "nodes.csv").write_text(re.sub('"007","[^"]+"', '"007","music"', text))
    done = ncgnn("predict", topics, "--nodes", "nodes.csv", "--edges", "edges.csv")
    assert (done.code, done.out) == (2, "")
    message = r"nodes.csv, column 'topic', row 8: label 'music' is not one of the classes .*"
    assert re.fullmatch(f"ncgnn: {message}\n", done.err)


def test_the_predictions_of_a_run_are_not_written_over(ncgnn, topics, here):
    before = contents(here)
    done = ncgnn("predict", "runs/topics", *TABLES, "--out", "runs/topics/predictions.csv")
    assert done.code == 2
    assert "runs/topics/predictions.csv: is a file of the run in runs/topics: choose another file" in done.err
    assert contents(here) == before


def test_the_split_of_a_file_is_not_taken_for_that_of_the_run(ncgnn, karate_run, here):
    save_graph(split_per_class(load_dataset("karate"), 1, 4), here / "club.npz")
    assert "split" not in rows_of(ncgnn("predict", karate_run, "club.npz").out)[0]


def test_every_class_may_have_its_probability(ncgnn, topics):
    rows = rows_of(ncgnn("predict", "runs/topics", *TABLES, "--probabilities").out)
    each = [[float(row[f"probability:{name}"]) for name in ("graphs", "logic, old")] for row in rows]
    np.testing.assert_allclose(np.sum(each, axis=1), 1, atol=2e-6)
    assert [max(pair) for pair in each] == [float(row["probability"]) for row in rows]
    first = json.loads(ncgnn("predict", "runs/topics", *TABLES, "--probabilities", "--json").out.splitlines()[0])
    assert first["probabilities"] == dict(zip(("graphs", "logic, old"), each[0], strict=True))


def test_a_label_that_is_not_known_is_null(ncgnn, topics):
    found = [json.loads(line) for line in ncgnn("predict", "runs/topics", *TABLES, "--json").out.splitlines()]
    assert {row["label"] for row in found} == {"graphs", "logic, old", None}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--out", "nowhere/p.csv"], "nowhere/p.csv: cannot be written (there is no folder nowhere)"),
        (["--coverage", "90"], "the model is not calibrated"),
        (["--min-confidence", "0.5"], "--min-confidence: the model is not calibrated"),
    ],
)
def test_what_cannot_be_given_is_said_before_tables_are_read(ncgnn, topics, asked, message):
    done = ncgnn("predict", "runs/topics", "--nodes", "missing.csv", "--edges", "missing.csv", *asked)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
