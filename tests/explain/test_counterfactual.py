"""What would change a prediction, checked against runs of the whole model on a changed graph."""

from itertools import combinations

import pytest
import torch

from helpers.group_models import grouped_classifier, linked_graph
from ncgnn.errors import InputError
from ncgnn.explain import GraphExplainer, trace_model
from ncgnn.explain.counterfactual import greedy, what_would_change
from ncgnn.explain.removal import candidates
from ncgnn.sparse import dense_rows


@pytest.fixture(scope="module")
def explainer(club, karate) -> GraphExplainer:
    return GraphExplainer(club.scored(karate))


@pytest.fixture(scope="module")
def found(explainer):
    """All that was found for the nodes of the karate club."""
    kinds = ("neighbours", "links", "features")
    return [one.counterfactual(what) for one in explainer.explain() for what in kinds]


def test_something_is_found_of_each_kind(found):
    assert {one.what for one in found if one.becomes is not None} >= {"neighbours", "links"}
    for one in found:
        assert (one.becomes is None) == (not one.removed)
        assert one.becomes != one.prediction
        assert one.sentence.startswith("It would be " if one.removed else ("It would stay ", "It has no "))


def test_what_changes_the_class_comes_first(explainer):
    mixed = 0
    for explanation in explainer.explain():
        kept = [one.becomes is None for one in what_would_change(explanation)]
        mixed += len(set(kept)) == 2
        assert kept == sorted(kept)
        assert {one.what for one in what_would_change(explanation, ["features"])} == {"features"}
    assert mixed


def test_without_the_links_a_new_run_on_the_changed_graph_says_the_other_class(club, karate, found, explainer):
    links = [one for one in found if one.what == "links" and one.removed]
    for one in links:
        (node,), others = explainer.names.node_numbers([one.node]), explainer.names.node_numbers(one.removed)
        data = karate.clone()
        source, target = data.edge_index
        gone = {(node, other) for other in others} | {(other, node) for other in others}
        kept = [pair not in gone for pair in zip(source.tolist(), target.tolist(), strict=True)]
        data.edge_index = data.edge_index[:, torch.tensor(kept)]
        assert str(club.predict(data)[node]) == one.becomes


def test_without_the_features_a_new_run_with_other_features_says_so_too(explainer):
    trace = explainer.trace
    x = torch.rand(trace.x.shape, generator=torch.Generator().manual_seed(0))
    other = trace_model(trace.model, x, trace.prepared)
    removal = type(explainer.removal)(other, type(explainer.removal.shares)(other), explainer.removal.data)
    without = x.clone()
    without[4, [1, 3]] = 0
    expected = trace_model(trace.model, without, trace.prepared)
    after, before = removal.scores_without(4, {"features": [1, 3]})
    torch.testing.assert_close(after, expected.scores[4])
    torch.testing.assert_close(before, expected.lengths[4])


def test_a_cut_link_leaves_its_weight_to_the_node_itself_and_an_ignored_neighbour_to_nobody(explainer):
    removal, node = explainer.removal, 33
    linked = candidates(removal, node, "links").items
    before, after = (dense_rows(a_bar, torch.tensor([node]))[:, 0] for a_bar in _filters(removal, node, linked))
    assert after[node] > before[node]
    assert not after[linked].any()
    presence = removal.subject.everyone.index_fill(0, torch.tensor(linked), 0.0)
    ignored = dense_rows(removal.reduced(presence).trace.groups[0].a_bar, torch.tensor([node]))[:, 0]
    torch.testing.assert_close(ignored, before * presence)


def _filters(removal, node, linked):
    return removal.trace.groups[0].a_bar, removal._filter_without(node, linked)


def test_no_smaller_part_is_enough(explainer, found):
    for one in found:
        if one.what != "neighbours" or not 1 < len(one.removed) < 6:
            continue
        (node,), others = explainer.names.node_numbers([one.node]), explainer.names.node_numbers(one.removed)
        for fewer in combinations(others, len(others) - 1):
            changed = explainer.removal.class_without(node, {"neighbours": fewer})
            assert explainer.names.classes[changed] == one.prediction


def test_the_parts_of_candidates_add_up_to_what_arrives(explainer):
    trace, node = explainer.trace, 33
    heard = candidates(explainer.removal, node, "neighbours")
    own = candidates(explainer.removal, node, "features")
    part = explainer.removal.shares.groups[0]
    constant = torch.einsum(
        "kq,kqcf,kc->cf",
        part.primary.bias * part.gates[node],
        trace.layer.weight,
        trace.routing.couplings[node],
    )
    mine = own.parts.sum(dim=0) + constant * trace.a_bar.to_dense()[node, node]
    torch.testing.assert_close(heard.parts.sum(dim=0) + mine + trace.bias, trace.routing.u[node], rtol=0, atol=1e-5)


def test_the_greedy_order_takes_the_most_decisive_first():
    u = torch.tensor([[3.0, 0.0], [1.0, 0.0]])
    parts = torch.tensor([[[0.5, 0.0], [0.0, 0.0]], [[2.5, 0.0], [0.0, 0.0]]])
    order, leads = greedy(u, parts, 0, 2)
    assert order == [1, 0]
    assert leads == pytest.approx([-0.5, -1.0])


def test_probabilities_without_nothing_are_the_probabilities(explainer):
    torch.testing.assert_close(explainer.without("33"), explainer.probabilities[33])
    assert not torch.allclose(explainer.without("33", neighbours=["32"]), explainer.probabilities[33])
    with pytest.raises(InputError, match="there is no feature"):
        explainer.without("33", features=["nothing"])


def test_models_with_several_groups_lose_neighbours_and_features_but_not_links():
    data = linked_graph()
    explainer = GraphExplainer(grouped_classifier(data, "all", epochs=3).scored(data))
    assert explainer.removal.kinds == ["neighbours", "features"]
    assert explainer.counterfactual("25", "features").passes >= 1
    with pytest.raises(InputError, match="one group of capsules"):
        explainer.counterfactual("25", "links")


def test_wrong_questions_are_refused(explainer):
    with pytest.raises(InputError, match="must be one of neighbours, links, features"):
        explainer.counterfactual("33", "hops")
    with pytest.raises(InputError, match="must be at least 1"):
        explainer.counterfactual("33", most=0)
