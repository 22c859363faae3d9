"""Explanations of models with several groups of capsules."""

import pytest
import torch

import ncgnn
from helpers.group_models import GROUPS, NODES, grouped_classifier, grouped_trace, linked_graph
from ncgnn.errors import InputError
from ncgnn.explain import (
    FeatureShares,
    GraphExplainer,
    by_capsule,
    by_group,
    by_hop,
    by_node,
    decisive,
    decompose,
    make_targets,
    of_bias,
    selection,
)
from ncgnn.explain.contributions import receptive_field
from ncgnn.explain.groups import Reads, unique_names
from ncgnn.explain.quality import Subject, evaluate
from ncgnn.explain.text import bars
from ncgnn.explain.walks import by_edge
from ncgnn.explain.wording import Said

EXACT = {"atol": 1e-6, "rtol": 0}
FILTERS = {
    "attention": ncgnn.AttentionFilter([0, 1, 2]),
    "exact": ncgnn.DiffusionFilter(),
    "top 4": ncgnn.AttentionFilter(2, sparsify=ncgnn.TopK(4)),
}
KINDS = {"links and beliefs": {}, "links": {"with_beliefs": False}, "beliefs": {"with_links": False}}


def every_target(trace):
    """Every node and class."""
    nodes, classes = torch.cartesian_prod(torch.arange(NODES), torch.arange(trace.scores.shape[1])).unbind(1)
    return make_targets(trace, nodes, classes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("filter", FILTERS)
def test_every_breakdown_adds_up_for_every_node_and_class(filter, kind):
    trace = grouped_trace(FILTERS[filter], **KINDS[kind])
    targets = every_target(trace)
    score, bias = trace.lengths[targets.nodes, targets.classes[:, 0]], of_bias(trace, targets)
    ways = {
        "group": by_group(trace, targets).sum(dim=1),
        "hop": sum(by_hop(trace, targets).values()),
        "node": by_node(trace, targets).sum(dim=1),
        "capsule": by_capsule(trace, targets).sum(dim=1),
    }
    for name, total in ways.items():
        torch.testing.assert_close(total + bias, score, **EXACT, msg=name)
    shares = FeatureShares(trace)
    for i in range(len(targets)):
        one = shares(targets[i : i + 1])
        torch.testing.assert_close(one.features.sum() + one.bias + bias[i], score[i], **EXACT)


def test_contributions_are_those_of_the_dense_matrices():
    """Term by term, from nothing but votes, couplings and the matrices of the filters."""
    trace = grouped_trace()
    a = torch.stack([group.a_bar.to_dense() for group in trace.groups for _ in group.capsules], dim=2).detach()
    said = trace.routing.couplings[..., None] * trace.routing.votes
    direction = torch.nn.functional.normalize(trace.routing.u, dim=-1)
    terms = torch.einsum("ijk,jklf,ilf->iljk", a, said, direction).flatten(0, 1).detach()
    targets = every_target(trace)
    torch.testing.assert_close(by_node(trace, targets), terms.sum(dim=2), **EXACT)
    torch.testing.assert_close(by_capsule(trace, targets), terms.sum(dim=1), **EXACT)
    by_number = [terms[:, :, group.capsules.start : group.capsules.stop].sum(dim=(1, 2)) for group in trace.groups]
    torch.testing.assert_close(by_group(trace, targets), torch.stack(by_number, dim=1), **EXACT)


def test_features_of_nodes_add_up_to_the_features():
    trace = grouped_trace()
    shares = FeatureShares(trace)
    one = shares(every_target(trace)[7:8])
    table = shares.of_nodes(one.heard, torch.arange(NODES))
    torch.testing.assert_close(table.sum(dim=0), one.features, **EXACT)


def test_hops_of_the_same_number_are_one_and_in_order():
    trace = grouped_trace(ncgnn.DiffusionFilter())
    assert list(by_hop(trace, every_target(trace))) == [*map(str, range(10)), "farther"]
    trace = grouped_trace(ncgnn.AttentionFilter([2, 5]))
    assert list(by_hop(trace, every_target(trace))) == ["0", "1", "2", "3", "5"]


def test_a_filter_that_is_no_sum_over_hops_leaves_none():
    trace = grouped_trace(ncgnn.DiffusionFilter(sparsify=ncgnn.TopK(3)))
    assert by_hop(trace, every_target(trace)) is None


def test_one_group_has_no_breakdown_by_group():
    trace = grouped_trace(with_links=False, with_beliefs=False)
    parts = decompose(trace, every_target(trace))
    assert parts.groups is None
    assert trace.p is trace.messages[0]


def test_beliefs_are_no_part_of_the_selection():
    found = selection(grouped_trace())
    assert found.capsules == 3 + 2 + 2
    assert found.largest <= 1 + 1e-9


@pytest.fixture(scope="module")
def data():
    return linked_graph()


@pytest.fixture(scope="module", params=GROUPS)
def explainer(request, data) -> GraphExplainer:
    return GraphExplainer(grouped_classifier(data, request.param).scored(data))


def test_named_parts_of_every_section_add_up(explainer):
    for why in explainer.explain(features=True, top=3):
        kinds = {kind: sum(part.value for part in parts) for kind, parts in why.sections()}
        assert list(kinds) == ["group", "hop", "node", "capsule", "feature"]
        assert all(total == pytest.approx(why.score, abs=1e-4) for total in kinds.values())


def test_the_lead_over_another_class_adds_up(explainer):
    for why in explainer.explain(against="runner-up", features=True, top=3):
        for kind, parts in why.sections():
            assert sum(part.value for part in parts) == pytest.approx(why.score, abs=1e-4), kind


def test_groups_are_in_the_order_of_their_shares(explainer):
    couplings = explainer.trace.routing.couplings
    firsts = set()
    for why in explainer.explain():
        values = [part.value for part in why.groups]
        assert values == sorted(values, reverse=True)
        firsts.add(why.groups[0].name)
    assert len(firsts) > 1 or len(explainer.trace.groups) == couplings.shape[1]


def test_names_of_capsules_and_features(data):
    explainer = GraphExplainer(grouped_classifier(data, "all", epochs=2).scored(data))
    (why,) = explainer.explain(["25"], features=True, top=None)
    capsules = [part.name for part in why.capsules]
    numbered = [name.partition(" (link")[0] for name in capsules]
    assert capsules[0].startswith("features 0 (")
    assert "links (in) 3" in numbered
    assert any(name.startswith("features (out) 0 (") for name in capsules)
    assert capsules[-2:] == ["beliefs red", "beliefs blue"]
    features = {part.name for part in why.features.largest}
    links = {f"link from {a}" for a, b in data.edge_tables["links"].edge_index.t().tolist() if b == 25}
    assert {name for name in features if name.startswith("link")} == links
    assert features - links <= {*data.get("feature_names", map(str, range(6)))} | {
        "neighbours of class red",
        "neighbours of class blue",
    }


def test_links_out_are_called_after_their_ends(data):
    explainer = GraphExplainer(grouped_classifier(data, "links", epochs=2).scored(data))
    (why,) = explainer.explain(["30"], features=True, top=None)
    links = {f"link to {b}" for a, b in data.edge_tables["links"].edge_index.t().tolist() if a == 30}
    assert {part.name for part in why.features.largest if part.name.startswith("link")} == links


def test_neighbours_of_unknown_class_say_what_they_are_taken_for(data):
    explainer = GraphExplainer(grouped_classifier(data, "beliefs").scored(data))
    linked = {str(b) for a, b in data.edge_index.t().tolist() if a == 25}
    (why,) = explainer.explain(["25"], top=None)
    trained = {str(node) for node in data.train_mask.nonzero().flatten().tolist()}
    said = {one.id: one.believed for one in why.neighbours if one.believed is not None}
    assert set(said) == linked - trained
    assert all(f"taken for {name}" in bars(why) for name in said.values())


def test_a_class_that_is_believed_is_that_of_the_other_groups():
    trace = grouped_trace()
    without = trace.routing.u - trace.arrived[-1]
    expected = without.norm(dim=-1).argmax(dim=1)
    known = trace.groups[-1].x.parameter
    torch.testing.assert_close(trace.believed[4:], expected[4:])
    assert torch.equal(trace.believed[:4], known[:4].argmax(dim=1))


def test_decisive_nodes_are_those_that_reach_it_through_any_group():
    trace = grouped_trace()
    for node in range(NODES):
        found = decisive(trace, node, int(trace.scores[node].argmax()))
        assert sorted(found.tolist()) == receptive_field(trace, node).tolist()
        assert node in found.tolist(), "its own links"


def test_edges_of_several_filters_add_up_to_what_crosses_them():
    """Hop 1 of beliefs has no loops: what its edges say is all that it says."""
    trace = grouped_trace(ncgnn.AttentionFilter([0]), with_links=False)
    targets = every_target(trace)[4:5]
    every = torch.cartesian_prod(torch.arange(NODES), torch.arange(NODES)).t()
    found = by_edge(trace, targets, every)
    of_groups = by_group(trace, targets)
    assert of_groups is not None
    torch.testing.assert_close(found.sum(), of_groups[0, 1], **EXACT)


def test_edges_have_no_parts_where_links_are_read():
    trace = grouped_trace()
    with pytest.raises(InputError, match=r"capsules read links as their input, as those of group 'links \(out\)' do"):
        by_edge(trace, every_target(trace)[:1], torch.tensor([[0], [1]]))


def test_presence_of_all_is_the_model_and_every_method_is_compared(data):
    for groups in GROUPS:
        scored = grouped_classifier(data, groups, epochs=2).scored(data)
        subject = Subject(GraphExplainer(scored).trace, data.edge_index)
        torch.testing.assert_close(subject.scores(subject.everyone), scored.scores, atol=1e-5, rtol=1e-5)
    rows = list(evaluate(subject, data, [25]))
    assert {row.method for row in rows} >= {"contributions in turn", "integrated gradients", "input times gradient"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("features", Reads("features")),
        ("links (out)", Reads("links", "", "out")),
        ("links (pays in)", Reads("links", "pays", "in")),
        ("features (pays (old))", Reads("features", "pays (old)")),
    ],
)
def test_what_a_group_reads_is_in_its_name(name, expected):
    assert Reads.of(name) == expected


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"reads": "links", "edges": "out"}, "whom it links to"),
        ({"reads": "links", "edges": "in"}, "who links to it"),
        ({"reads": "links"}, "whom it is linked with"),
        ({"reads": "links", "edges": "links"}, "its links in 'links'"),
        ({"reads": "links", "edges": "out", "hops": [1]}, "whom it and its neighbours link to"),
        ({"hops": [0]}, "its features"),
        ({"hops": [1]}, "its and its neighbours' features"),
        ({"hops": [2]}, "the features of nodes up to 2 steps away"),
        ({"hops": [1], "edges": "out"}, "the features of those it links to"),
        ({"hops": [1], "edges": "links in"}, "the features of those that link to it in 'links'"),
        ({"reads": "beliefs"}, "the classes of its neighbours"),
    ],
)
def test_groups_in_words(data, settings, words):
    scored = ncgnn.NCGNNClassifier(num_capsules=1, hops=[1], epochs=1, groups=[settings]).fit_scored(data)
    assert GraphExplainer(scored).trace.groups[1].words == words


def test_groups_of_the_same_name_are_told_apart():
    assert unique_names(["features", "links", "features"]) == ["features", "links", "features #2"]


def test_groups_that_read_the_same_are_named_after_their_hops(data):
    groups = [{"hops": [1]}, {"hops": [1, 2]}, {"reads": "links"}, {"hops": [1]}]
    scored = ncgnn.NCGNNClassifier(num_capsules=1, hops=[0], epochs=1, groups=groups).fit_scored(data)
    assert [group.name for group in GraphExplainer(scored).trace.groups] == [
        "features (hop 0)",
        "features (hop 1)",
        "features (hops 1, 2)",
        "links",
        "features (hop 1) #2",
    ]


def test_what_neighbours_are_believed_to_be_is_said_as_their_class(data):
    """The sentence goes on from "its neighbours, above all their"."""
    explainer = GraphExplainer(grouped_classifier(data, "beliefs", epochs=1).scored(data))
    columns = explainer._feature_shares.columns
    assert explainer._wording(columns.total - 1, None) == Said("class", "“blue”")


def test_the_sentence_says_why_in_words(data):
    explainer = GraphExplainer(grouped_classifier(data, "links").scored(data))
    said = [why.answer.sentence for why in explainer.explain()]
    assert any("its own links to “" in one for one in said)
    assert any("features “" in one for one in said)
    (why,) = explainer.explain(["25"])
    assert [row[:2] for row in why.rows()][1:3] == [("group", part.name) for part in why.groups]
    assert why.to_dict()["groups"][0].keys() == {"name", "value", "words"}
    assert "by group" in why._repr_html_()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"edges": "links out", "hops": [1]}, "because of the features of those it links to in 'links'"),
        ({"edges": "in", "hops": [1]}, "because of the features of those that link to it"),
        ({"reads": "beliefs", "edges": "out"}, "because of the classes of those it links to"),
        ({"reads": "links", "edges": "links in"}, "its own links in 'links' from “"),
    ],
)
def test_the_sentence_names_direction_and_table(data, settings, words):
    """The first group reads the node itself; what it hears of others comes from the second."""
    model = grouped_classifier(data, hops=[0], groups=[settings])
    assert any(words in why.answer.sentence for why in GraphExplainer(model.scored(data)).explain())


def test_the_group_in_the_sentence_is_the_one_that_contributes_most(data):
    model = grouped_classifier(data, hops=[0], groups=[{"edges": "in", "hops": [1]}, {"edges": "out", "hops": [1]}])
    words = {"features (in)": "those that link to it", "features (out)": "those it links to"}
    met = set()
    for why in GraphExplainer(model.scored(data)).explain(against="runner-up"):
        main = next(part.name for part in why.groups if part.name in words)
        for name, said in words.items():
            if said in why.answer.sentence:
                assert name == main
                met.add(name)
    assert met == set(words)
