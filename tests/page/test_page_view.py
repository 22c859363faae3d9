import pytest
import torch
from torch_geometric.data import Data

from ncgnn.explain.surroundings import FARTHEST, Surroundings
from ncgnn.page import NodeViews
from ncgnn.page.table import Register, shortened
from ncgnn.page.view import FEATURES, FEATURES_EACH


@pytest.fixture(scope="module")
def view(explainer):
    return next(NodeViews(explainer)(["33"]))


def test_the_parts_of_each_kind_add_up_to_the_lead(view, explainer):
    (why,) = explainer.explain(["33"])
    assert view["score"] == pytest.approx(why.prediction.value - why.runner_up.value, rel=0.01)
    by_node = view["itself"] + sum(other["value"] for other in view["neighbours"]) + view["rest"]
    by_feature = sum(value for _, value in view["features"]["largest"])
    by_feature += view["features"]["rest"] + view["features"]["bias"]
    for parts in (sum(value for _, value in view["hops"]), by_node, sum(view["capsules"]), by_feature):
        assert parts + view["bias"] == pytest.approx(view["score"], abs=0.01 * view["whole"])


def test_the_sentence_is_that_of_the_explanation(view, explainer):
    (why,) = explainer.explain(["33"])
    assert (view["sentence"], view["rather"]) == (why.answer.sentence, why.answer.rather)


def test_neighbours_are_said_with_class_role_and_distance(view, karate):
    by_id = {other["id"]: other for other in view["neighbours"]}
    assert "33" not in by_id
    for other in by_id.values():
        number = int(other["id"])
        assert other["label"] == karate.class_names[karate.y[number]]
        assert (other["split"] == "train") == bool(karate.train_mask[number])
    linked = {b for a, b in karate.edge_index.t().tolist() if a == 33}
    assert {int(id) for id, other in by_id.items() if other["distance"] == 1} == linked


def test_links_are_edges_of_the_graph(view, karate):
    edges = set(map(tuple, karate.edge_index.t().tolist()))
    assert view["links"]
    assert all((int(a), int(b)) in edges for a, b in view["links"])


def test_few_features_are_named(view):
    assert len(view["features"]["largest"]) <= FEATURES


def test_neighbours_are_said_with_the_features_that_make_their_parts(view, explainer):
    (why,) = explainer.explain(["33"], "runner-up", features=True, top=len(view["neighbours"]))
    for other, neighbour in zip(view["neighbours"], why.neighbours, strict=True):
        parts = {part.name: part.value for part in neighbour.features}
        assert len(other["features"]) <= FEATURES_EACH
        assert all(parts[name] * other["value"] > 0 for name in other["features"])
        first = max(parts, key=lambda name: parts[name] * other["value"])
        assert other["features"][:1] == [first] * (parts[first] * other["value"] > 0)


def test_a_shortened_view_means_the_same(view):
    nodes, features = Register(["33"]), Register()
    short = shortened(view, nodes, features)
    assert [nodes.names[place] for place, *_ in short["neighbours"]] == [n["id"] for n in view["neighbours"]]
    through = [[features.names[place] for place in places] for _, _, _, *places in short["neighbours"]]
    assert through == [n["features"] for n in view["neighbours"]]
    assert [[features.names[place], value] for place, value in short["features"]["largest"]] == view["features"][
        "largest"
    ]
    around = ["33", *(n["id"] for n in view["neighbours"])]
    ends = [around[place] for place in short["links"]]
    assert [list(pair) for pair in zip(ends[::2], ends[1::2], strict=True)] == view["links"]


def path(length: int) -> Data:
    """Nodes in a row, and one that is linked to none."""
    there = torch.stack([torch.arange(length - 1), torch.arange(1, length)])
    return Data(edge_index=torch.cat([there, there.flip(0)], dim=1), num_nodes=length + 1)


def test_distances_are_counted_in_steps_up_to_the_farthest():
    around = Surroundings(path(7))
    assert around.distances(0, [0, 1, FARTHEST, FARTHEST + 1]) == [0, 1, FARTHEST, None]
    assert around.distances(0, [7]) == [None]


def test_links_are_the_edges_among_nodes_each_once():
    around = Surroundings(path(4))
    assert around.links([2, 1, 3, 7 - 3]) == [(0, 1), (0, 2)]
    assert around.links([0, 3]) == []
