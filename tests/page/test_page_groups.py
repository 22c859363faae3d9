"""The page of a model with several groups of capsules."""

import pytest

from helpers.elements import Elements
from helpers.group_models import grouped_classifier, linked_graph
from ncgnn.explain import GraphExplainer
from ncgnn.page import NodeViews, write_page
from ncgnn.page.predictions import Predictions
from ncgnn.serve import Answers
from ncgnn.serve.schema import View


@pytest.fixture(scope="module")
def grouped() -> GraphExplainer:
    data = linked_graph()
    return GraphExplainer(grouped_classifier(data, "links").scored(data))


@pytest.fixture(scope="module")
def content(grouped, tmp_path_factory) -> tuple[dict, dict]:
    path = tmp_path_factory.mktemp("grouped") / "page.html"
    write_page(path, grouped)
    elements = Elements(path.read_text("utf-8"))
    return elements.json("overview-data"), elements.json("views-data")


def test_groups_of_a_node_add_up_to_its_score(grouped):
    for view in NodeViews(grouped)(["3", "25"]):
        parts = sum(value for _, value, _ in view["groups"])
        assert parts + view["bias"] == pytest.approx(view["score"], abs=0.01 * view["whole"])
        assert view["group"] == view["groups"][0][0]


def test_nodes_of_each_main_group_can_be_found(grouped, content):
    overview, views = content
    table = overview["nodes"]
    assert [group["name"] for group in overview["groups"]] == ["features", "links (out)"]
    assert sum(group["main"] for group in overview["groups"]) == 40
    for number, group in enumerate(overview["groups"]):
        assert group["nodes"], group
        assert group["main"] == table["group"].count(number)
        for place in group["nodes"]:
            largest = max(views["nodes"][str(place)]["groups"], key=lambda part: part[1])
            assert largest[0] == group["name"]


def test_capsules_and_hops_are_named_by_group(content):
    overview, views = content
    assert overview["capsules"][-1].startswith("links (out) 3 (link to ")
    assert len(overview["couplings"]) == len(overview["capsules"]) == len(views["nodes"]["0"]["capsules"])
    assert [name for name, _ in overview["hops"]] == ["features, hop 1", "features, hop 2", "links (out), hop 0"]


def test_what_neighbours_are_taken_for_is_on_the_page():
    data = linked_graph()
    explainer = GraphExplainer(grouped_classifier(data, "beliefs", epochs=3).scored(data))
    (view,) = NodeViews(explainer)(["25"])
    assert {other["believed"] for other in view["neighbours"]} - {None} <= {"red", "blue"}
    assert any(other["believed"] for other in view["neighbours"])
    groups = View.model_validate(view).groups
    assert groups is not None
    assert groups[0][0] in ("features", "beliefs")


def test_the_server_answers_with_groups(grouped):
    answers = Answers(grouped.scored)
    assert View.model_validate(answers.view("25")).group in ("features", "links (out)")
    assert {part.name for part in answers.explain("25", None, None, False, 4).groups} == {"features", "links (out)"}
    assert '"groups":[{"name":"features"' in answers.page


def test_one_group_is_not_spoken_of(explainer):
    assert Predictions.of(explainer).groups is None
    (view,) = NodeViews(explainer)(["33"])
    assert view["groups"] is view["group"] is None
