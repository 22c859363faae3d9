import json
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import pytest

from ncgnn.explain import GraphExplainer
from ncgnn.serve import Answers


def test_a_prediction_is_that_of_the_model(ask, graph, classifier):
    expected = classifier.predict_proba(graph)
    for number, node in enumerate(graph.node_ids[:5]):
        status, found = ask("/api/predict", node=node)
        assert status == 200
        assert list(found["probabilities"].values()) == pytest.approx(expected[number].tolist())
        assert found["predicted"] == str(classifier.predict(graph)[number])
        assert found["probability"] == max(found["probabilities"].values())
        assert found["margin"] == pytest.approx(found["probability"] - sorted(found["probabilities"].values())[-2])
        assert (found["id"], found["label"]) == (node, graph.class_names[graph.y[number]])


def test_an_explanation_is_that_of_the_explainer(ask, graph, classifier):
    explainer = GraphExplainer(classifier.scored(graph))
    (expected,) = explainer.explain(["33"], against="runner-up", features=True, top=3)
    status, found = ask("/api/explain", node=33, against="runner-up", features="true", top=3)
    assert status == 200
    assert found["score"] == pytest.approx(expected.score)
    assert [part["name"] for part in found["hops"]] == [part.name for part in expected.hops]
    assert [one["id"] for one in found["neighbours"]] == [one.id for one in expected.neighbours]
    assert [one["value"] for one in found["features"]["largest"]] == pytest.approx(
        [part.value for part in expected.features.largest]
    )
    parts = sum(part["value"] for part in found["capsules"]) + found["bias"]
    assert parts == pytest.approx(found["score"], abs=1e-5)


def test_another_class_can_be_explained(ask, graph):
    _, predicted = ask("/api/predict", node=0)
    other = next(name for name in graph.class_names if name != predicted["predicted"])
    status, found = ask("/api/explain", node=0, **{"class": other})
    assert (status, found["explained"], found["against"]) == (200, other, None)


def test_search_finds_ids_that_contain_the_text(ask, graph):
    status, found = ask("/api/nodes", search="3", limit=4)
    assert status == 200
    assert found["total"] == sum("3" in node for node in graph.node_ids)
    assert [node["id"] for node in found["nodes"]] == ["3", "30", "31", "32"]  # the text itself, what begins with it
    assert ask("/api/nodes", search="nobody") == (200, {"total": 0, "nodes": []})
    assert ask("/api/nodes")[1]["total"] == graph.num_nodes


def test_search_finds_titles_too_after_ids(graph, classifier):
    titled = copy(graph)
    titled.node_titles = ["Anna", "Ann", "3 ann", *[""] * (graph.num_nodes - 3)]
    answers = Answers(classifier.scored(titled))
    assert [(node.id, node.title) for node in answers.search("ANN", 9).nodes] == [
        ("1", "Ann"),
        ("0", "Anna"),
        ("2", "3 ann"),
    ]
    assert [node.id for node in answers.search("3", 9).nodes] == ["3", *map(str, range(30, 34)), "13", "23", "2"]
    assert answers.predict("3").title is None


def test_the_page_asks_for_what_the_server_has(get, ask):
    status, page = get("/")
    assert status == 200
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "api/view?node=" in page
    status, view = ask("/api/view", node=33)
    assert status == 200
    _, predicted = ask("/api/predict", node=33)
    assert view["predicted"] == predicted["predicted"]
    assert view["rather"].startswith(f"class {view['predicted']} rather than class {view['second']} (")
    assert all({"id", "value", "distance"} <= set(one) for one in view["neighbours"])


@pytest.mark.parametrize("path", ["/api/predict", "/api/explain", "/api/view"])
def test_an_unknown_node_is_not_found_in_one_line(ask, path):
    status, found = ask(path, node="nobody")
    assert status == 404
    assert found["detail"].startswith("there is no node 'nobody'; for example:")
    assert "\n" not in found["detail"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "node: Field required"),
        ({"node": 0, "top": 0}, "top: Input should be greater than or equal to 1"),
        ({"node": 0, "top": "many"}, "top: Input should be a valid integer"),
        (
            {"node": 0, "against": "nothing"},
            "there is no class 'nothing'; there are '0', '1', '2', '3', 'runner-up', 'others'",
        ),
        ({"node": 0, "class": "nothing"}, "there is no class 'nothing'; there are '0', '1', '2', '3'"),
        ({"node": 0, "feature": "true"}, "unknown parameter 'feature'; known: node, class, against, features, top"),
        ({"node": 0, "features": "perhaps"}, "features: Input should be a valid boolean"),
    ],
)
def test_bad_input_is_said_in_one_line(ask, query, message):
    status, found = ask("/api/explain", **query)
    assert status == 422
    assert found["detail"].startswith(message)


def test_a_parameter_is_given_once(get):
    status, text = get("/api/predict?node=0&node=1")
    assert (status, json.loads(text)) == (422, {"detail": "parameter 'node' is given more than once"})


def test_a_class_is_not_compared_with_itself(ask):
    _, predicted = ask("/api/predict", node=0)
    status, found = ask("/api/explain", node=0, against=predicted["predicted"])
    assert status == 422
    assert "compare with another class" in found["detail"]


def test_fifty_requests_at_once_get_the_answers_of_one_at_a_time(ask, graph):
    nodes = [graph.node_ids[i % graph.num_nodes] for i in range(50)]
    alone = {node: ask("/api/explain", node=node, features="true") for node in set(nodes)}
    with ThreadPoolExecutor(50) as threads:
        together = list(threads.map(lambda node: ask("/api/explain", node=node, features="true"), nodes))
    assert together == [alone[node] for node in nodes]
    assert all(status == 200 for status, _ in together)


def test_a_page_from_elsewhere_gets_nothing(get):
    for host in ("localhost", "localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert get("/api/predict", host=host, node=0)[0] == 200
    for host in ("evil.example", "localhost.evil.example", ""):
        assert get("/api/predict", host=host, node=0)[0] == 400


def test_the_interface_is_read_only_and_described(get, ask):
    assert get("/api/predict", method="POST", node=0)[0] == 405
    assert get("/docs")[0] == 404
    _, schema = ask("/openapi.json")
    assert set(schema["paths"]) == {
        "/api/predict",
        "/api/explain",
        "/api/view",
        "/api/nodes",
        "/api/what-if",
        "/api/without",
    }
    for path in schema["paths"].values():
        described = path["get"]
        assert described["description"]
        assert all(parameter["description"] for parameter in described["parameters"])
        assert described["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/Problem")
