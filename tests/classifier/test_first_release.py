"""A model file of the first release, with the tables it was trained on and what it predicted then."""

from pathlib import Path

import pandas as pd

from ncgnn.classifier import NCGNNClassifier
from ncgnn.classifier.run_folder import prediction_table
from ncgnn.data import read_graph

FOLDER = Path(__file__).parent / "first_release"


def test_a_model_file_of_the_first_release_still_predicts_the_same():
    classifier = NCGNNClassifier.load(FOLDER / "model.safetensors")
    classes = classifier.classes_.tolist()
    data = read_graph(FOLDER / "nodes.csv", FOLDER / "edges.csv", encoding=classifier.encoding_, class_names=classes)
    found = prediction_table(classifier.scored(data))
    expected = pd.read_csv(FOLDER / "predictions.csv", dtype={"id": str}, keep_default_na=False)
    assert found["id"].tolist() == expected["id"].tolist()
    assert found["predicted"].tolist() == expected["predicted"].tolist()
    assert (found["probability"] - expected["probability"]).abs().max() < 1e-5
    assert (found["margin"] - expected["margin"]).abs().max() < 1e-5


def test_it_takes_a_graph_that_is_read_today():
    classifier = NCGNNClassifier.load(FOLDER / "model.safetensors")
    tables = FOLDER / "nodes.csv", FOLDER / "edges.csv"
    today = read_graph(*tables, label="topic", categorical=["group"], ignore=["note"])
    then = read_graph(*tables, encoding=classifier.encoding_, class_names=classifier.classes_.tolist())
    assert (classifier.decision_function(today) == classifier.decision_function(then)).all()
