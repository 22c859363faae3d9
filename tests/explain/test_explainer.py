from copy import copy

import pytest
import torch
from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.errors import InputError
from ncgnn.explain import GraphExplainer, by_node, make_targets


def test_the_prediction_explained_is_the_prediction_made(club, karate):
    found = list(club.explain(karate))
    assert [one.node for one in found] == karate.node_ids
    assert [one.prediction.name for one in found] == club.predict(karate).astype(str).tolist()
    assert all(one.explained == one.prediction.name for one in found)
    assert all(one.score == pytest.approx(one.prediction.value, abs=1e-5) for one in found)


def test_chosen_nodes_come_in_the_order_they_were_asked_for(club, karate):
    some, every = club.explain(karate, [33, "0"]), list(club.explain(karate))
    assert [one.node for one in some] == ["33", "0"]
    assert some[1].score == pytest.approx(every[0].score)
    assert club.explain(karate, []) == []


def test_nodes_may_be_numbers_or_a_mask_in_a_tensor(club, karate):
    assert [one.node for one in club.explain(karate, torch.tensor([33, 0]))] == ["33", "0"]
    tested = [karate.node_ids[i] for i in karate.test_mask.nonzero().flatten().tolist()]
    assert [one.node for one in club.explain(karate, karate.test_mask)] == tested
    assert [one.node for one in club.explain(karate, torch.tensor([3, 0], dtype=torch.uint8))] == ["3", "0"]
    assert list(club.explain(karate, torch.tensor([]))) == []


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (torch.tensor([1.0]), "nodes is torch.float32: must be integers or a mask"),
        (torch.tensor([True, False]), r"nodes is a mask of shape \(2,\), the graph has 34 nodes"),
    ],
)
def test_other_tensors_are_refused(club, karate, nodes, message):
    with pytest.raises(InputError, match=message):
        list(club.explain(karate, nodes))


def test_every_way_of_splitting_adds_up(club, karate):
    for one in club.explain(karate, ["5", "16"], against="runner-up", features=True, top=4):
        lead = one.prediction.value - one.runner_up.value
        for _, parts in one.sections():
            assert sum(part.value for part in parts) == pytest.approx(lead, abs=1e-5)
        assert (one.explained, one.against) == (one.prediction.name, one.runner_up.name)


def test_neighbours_have_their_label_and_split(club, karate):
    (one,) = club.explain(karate, ["0"], top=34)
    labels = {neighbour.id: neighbour.label for neighbour in one.neighbours}
    assert labels == {node: karate.class_names[karate.y[int(node)]] for node in labels}
    splits = {neighbour.id: neighbour.split for neighbour in one.neighbours}
    assert {node for node, split in splits.items() if split == "train"} <= set(
        map(str, karate.train_mask.nonzero().flatten().tolist())
    )
    assert set(splits.values()) == {"train", "val", "test"}
    reached = {str(node) for node in within_two_hops(karate, 0)}
    assert set(labels) <= reached
    assert "0" not in labels
    assert one.rest == pytest.approx(0, abs=1e-6)


def test_the_top_neighbours_are_as_many_as_asked_for_beside_the_node_itself(club, karate):
    for one in club.explain(karate, top=3):
        assert len(one.neighbours) == 3
        assert one.node not in [neighbour.id for neighbour in one.neighbours]


def test_what_a_node_hears_of_itself_is_its_entry_among_all_nodes(club, karate):
    explainer = GraphExplainer(club.scored(karate))
    for one in explainer.explain(["5", "16"]):
        number = torch.tensor([int(one.node)])
        predicted = torch.tensor([explainer.names.class_number(one.explained)])
        parts = by_node(explainer.trace, make_targets(explainer.trace, number, predicted))
        assert one.own == pytest.approx(parts[0, int(one.node)].item(), abs=1e-6)


def within_two_hops(data: Data, node: int) -> set[int]:
    reached = {node}
    for _ in range(2):
        reached |= {b for a, b in data.edge_index.t().tolist() if a in reached}
    return reached


def test_another_class_can_be_explained(club, karate):
    explainer = GraphExplainer(club.scored(karate))
    (one,) = explainer.explain(["0"], target="2")
    assert one.explained == "2"
    assert one.score == pytest.approx(float(explainer.trace.lengths[0, 2]), abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": ["nobody"]}, "there is no node 'nobody'; for example: '0', '1', '2'"),
        ({"nodes": ["1"], "top": 2.5}, "top = 2.5: must be a positive number of neighbours"),
        ({"nodes": ["3x"]}, "there is no node '3x'; closest: '3'"),
        ({"nodes": ["1"], "target": "22"}, "there is no class '22'; there are '0', '1', '2', '3'"),
        (
            {"nodes": ["1"], "against": "none"},
            "there is no class 'none'; there are '0', '1', '2', '3', 'runner-up', 'others'",
        ),
        ({"nodes": ["1"], "target": "2", "against": "2"}, "for class '2' itself"),
        ({"nodes": ["1"], "top": 0}, "top = 0"),
        ({"nodes": "12"}, "must be a list of ids"),
        ({"nodes": 12}, "must be a list of ids"),
        ({"nodes": torch.tensor([0, 34])}, "numbers from 0 to 34, the graph 34 nodes"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(club, karate, options, message):
    with pytest.raises(InputError, match=message):
        club.explain(karate, **options)


def test_a_model_with_hidden_layers_is_not_explained(karate):
    classifier = NCGNNClassifier(hops=1, num_capsules=2, primary_channels=4, hidden=[(2, 4)], epochs=1).fit(karate)
    with pytest.raises(InputError, match="without hidden capsule layers"):
        classifier.explain(karate)


def test_routing_selects_the_more_the_larger_beta(karate):
    found = []
    for beta in (0.0, 1.0, 50.0):
        classifier = NCGNNClassifier(hops=1, num_capsules=4, primary_channels=8, beta=beta, epochs=3).fit(karate)
        found.append(GraphExplainer(classifier.scored(karate)).selection)
    even, mild, sharp = found
    assert even.entropy == pytest.approx(1)
    assert even.largest == even.mean_largest == pytest.approx(0.25)
    assert 1 > mild.entropy > sharp.entropy > 0
    assert 0.25 < mild.mean_largest < sharp.mean_largest < sharp.largest <= 1


def test_explaining_does_not_touch_the_model_or_the_random_state(club, karate):
    before, state = club.decision_function(karate), torch.random.get_rng_state()
    list(club.explain(karate, features=True))
    assert (club.decision_function(karate) == before).all()
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_title_in_place_of_an_id_is_noticed(club, karate):
    titled = copy(karate)
    titled.node_titles = ["", "Ann", *[""] * 32]
    with pytest.raises(InputError, match="'Ann' is the title of node '1': use its id"):
        list(club.explain(titled, ["Ann"]))


def test_all_neighbours_may_be_named(club, karate):
    (why,) = club.explain(karate, ["33"], top=None)
    assert len(why.neighbours) > 16
    assert why.rest == pytest.approx(0, abs=1e-6)
