"""Run folders that are not what they say."""

import json
import os
import shutil

import pytest


@pytest.fixture
def run(sound, tmp_path):
    shutil.copytree(sound / "own", tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


def test_a_description_nested_too_deeply(refuses, run):
    (run / "run.json").write_text("[" * 100_000)
    for verb in (["predict", "run"], ["explain", "run", "--node", "n1"]):
        refuses(*verb, message="run/run.json: does not describe a run: name the graph")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"nodes": "\0", "edges": ["e.csv"]}, "no such file"),
        ({"nodes": "\ud800", "edges": ["e.csv"]}, "no such file"),
        ({"name": "x" * 100_000}, "unknown graph"),
        ({"files": {"x" * 100_000: ""}}, "File name too long"),
        ({"nodes": "/dev/zero", "edges": ["e.csv"]}, "not a regular file"),
        ({"files": {"/dev/zero": ""}}, "which is missing"),
        ({"files": []}, "does not describe a run"),
    ],
    ids=["nul", "half a character", "long", "long file", "endless", "endless file", "list"],
)
@pytest.mark.parametrize("verb", ["predict", "explain --node n1", "serve --port 0"])
def test_a_graph_to_remember_that_no_one_has(refuses, run, verb, source, message):
    found = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(found | {"source": source}))
    refuses(*verb.split(), "run", message=message)


@pytest.mark.parametrize(
    ("name", "message"),
    [("run.json", "give one graph"), ("predictions.csv", "predictions.csv: does not contain the split of the run")],
)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(refuses, run, name, message):
    (run / name).unlink()
    os.mkfifo(run / name)
    refuses("explain", "run", "--node", "n1", message=message)


@pytest.mark.parametrize("change", [lambda rows: rows[:-1], lambda rows: [*rows[:-1], rows[1]]], ids=["short", "twice"])
def test_predictions_of_another_graph(refuses, run, change):
    """As of a folder to which someone copied the predictions of another run."""
    rows = (run / "predictions.csv").read_text().splitlines()
    (run / "predictions.csv").write_text("\n".join(change(rows)) + "\n")
    message = "run/predictions.csv: does not contain the split of the run: retrain, or move the model file"
    refuses("explain", "run", "--node", "n1", message=message)
