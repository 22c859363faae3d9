"""Searching from Python."""

import pytest

import ncgnn
from ncgnn.errors import InputError
from ncgnn.models.ncgnn import Config, NCGNNModel

SMALL = {"num_capsules": 2, "primary_channels": 8, "class_channels": 4, "epochs": 25, "patience": 8}


@pytest.fixture(autouse=True)
def two_candidates(monkeypatch):
    candidates = {"one": Config.make(SMALL), "other": Config.make(SMALL | {"hops": [1]})}
    monkeypatch.setattr(NCGNNModel, "portfolio", lambda self, graph: candidates)


@pytest.fixture
def karate():
    return ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=4, val=12)


def test_a_search_gives_a_trained_classifier(karate, tmp_path):
    classifier = ncgnn.NodeClassifier.search(karate, folder=tmp_path / "search")
    assert classifier.found_.name in ("one", "other")
    assert classifier.config_ == classifier.found_.settings
    assert len(classifier.predict(karate)) == 34
    assert any((tmp_path / "search").iterdir())
    classifier.save(tmp_path / "model.safetensors")
    loaded = ncgnn.NodeClassifier.load(tmp_path / "model.safetensors")
    assert (loaded.predict_proba(karate) == classifier.predict_proba(karate)).all()
    (why,) = classifier.explain(karate, ["33"])
    assert why.node == "33"


def test_a_graph_without_a_split_is_refused():
    with pytest.raises(InputError, match="train_mask"):
        ncgnn.NodeClassifier.search(ncgnn.load_dataset("karate"))


def test_other_models_are_searched_by_their_candidates(karate):
    assert ncgnn.NodeClassifier.search(karate, "gcn").definition.name == "gcn"
