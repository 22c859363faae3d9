import json

import numpy as np
import pandas as pd
import pytest

from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.classifier.run_folder import with_split_of_run, write_run
from ncgnn.data import load_dataset, read_graph, set_aside, split_fractions, split_stratified, syn_cora
from ncgnn.data.splits import roles
from ncgnn.errors import InputError


@pytest.fixture
def run(karate, tmp_path):
    classifier = NCGNNClassifier(**SMALL, hops=2, epochs=1)
    write_run(tmp_path / "run", classifier, classifier.fit_scored(karate), 0)
    return tmp_path / "run"


@pytest.mark.parametrize("model", [".", "model.safetensors"])
def test_the_run_folder_tells_the_split(run, karate, model):
    found = with_split_of_run(load_dataset("karate"), run / model)
    assert roles(found) == roles(karate)


def test_nodes_set_aside_for_calibration_are_told_too(tmp_path):
    data = split_fractions(syn_cora(0.5), 0.25, 0.25)
    data = set_aside(data)
    classifier = NCGNNClassifier(**SMALL, hops=2, epochs=1)
    write_run(tmp_path, classifier, classifier.fit_scored(data), 0)
    found = with_split_of_run(syn_cora(0.5), tmp_path)
    assert roles(found) == roles(data)
    assert (found.calibration_mask == data.calibration_mask).all()


def test_another_graph_has_no_such_split(run):
    other = load_dataset("karate")
    other.x = other.x * 2
    assert roles(with_split_of_run(other, run)) is None


def test_later_tables_have_the_split_of_the_nodes_they_share(tmp_path):
    n = 40
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(n)], "size": range(n), "kind": ["a", "b"] * (n // 2)})
    edges = pd.DataFrame({"source": nodes["id"], "target": np.roll(nodes["id"], 2)})
    data = split_stratified(read_graph(nodes, edges, label="kind"))
    classifier = NCGNNClassifier(**SMALL, hops=2, epochs=1)
    write_run(tmp_path, classifier, classifier.fit_scored(data), 0)
    new = pd.DataFrame({"id": ["m0", "m1"], "size": [3, 4], "kind": ["a", ""]})
    later = pd.concat([new, nodes.iloc[::-1]], ignore_index=True)
    read = {"encoding": classifier.encoding_, "class_names": ["a", "b"]}
    found = roles(with_split_of_run(read_graph(later, edges, **read), tmp_path))
    assert found == ["test", "", *reversed(roles(data))]
    # without a node it was trained on, it is another graph
    gone = data.node_ids[int(data.train_mask.nonzero()[0])]
    without = edges[(edges["source"] != gone) & (edges["target"] != gone)]
    assert roles(with_split_of_run(read_graph(later[later["id"] != gone], without, **read), tmp_path)) is None


def test_a_model_file_by_itself_tells_none(run, tmp_path):
    (run / "model.safetensors").rename(tmp_path / "model.safetensors")
    assert roles(with_split_of_run(load_dataset("karate"), tmp_path / "model.safetensors")) is None


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"graph": {}})])
def test_a_damaged_description_is_named(run, text):
    (run / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json: does not describe a run"):
        with_split_of_run(load_dataset("karate"), run)


@pytest.mark.parametrize("text", ["id,predicted\n0,1\n", None])
def test_predictions_without_the_split_are_named(run, text):
    (run / "predictions.csv").unlink() if text is None else (run / "predictions.csv").write_text(text)
    with pytest.raises(InputError, match=r"predictions\.csv: does not contain the split of the run"):
        with_split_of_run(load_dataset("karate"), run)
