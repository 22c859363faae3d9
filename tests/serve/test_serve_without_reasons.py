"""Models that give no reasons are served too: predictions and search, and a line where reasons are asked for."""

import json

import pytest

from helpers.server import answer_of, serving
from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier, NodeClassifier

MODELS = {
    "gcn": lambda: NodeClassifier("gcn", {"epochs": 5}),
    "hidden layers": lambda: NCGNNClassifier(**SMALL, hops=2, epochs=2, hidden=[[2, 4]]),
}


@pytest.fixture(scope="module", params=MODELS)
def scored(request, graph):
    return MODELS[request.param]().fit_scored(graph)


@pytest.fixture(scope="module")
def port(scored):
    with serving(scored) as port:
        yield port


def test_predictions_are_those_of_the_model(port, scored, graph):
    status, text = answer_of(port, "/api/predict", node="33")
    found = json.loads(text)
    assert status == 200
    assert list(found["probabilities"].values()) == pytest.approx(scored.probabilities[33].tolist())
    assert found["predicted"] == scored.classes[scored.predicted[33]]
    status, text = answer_of(port, "/api/nodes", search="33")
    assert (status, [node["id"] for node in json.loads(text)["nodes"]]) == (200, ["33"])


@pytest.mark.parametrize("path", ["/api/explain", "/api/view"])
def test_reasons_that_are_asked_for_are_refused_in_one_line(port, scored, path):
    status, text = answer_of(port, path, node="33")
    detail = f"{scored.model} cannot be explained: serve an NCGNN without hidden capsule layers"
    assert (status, json.loads(text)) == (422, {"detail": detail})
    assert answer_of(port, path, node="nobody")[0] == 404


def test_the_page_says_where_predictions_are(port):
    status, page = answer_of(port, "/")
    assert status == 200
    assert "cannot be explained" in page
    assert "/api/predict?node=ID" in page
