"""The answer as a stranger reads it, and the numbers in it."""

import re
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import complete, read_graph, split_stratified, usual_split
from ncgnn.data.generated.shop import shop_tables
from ncgnn.explain import GraphExplainer, by_node, make_targets
from ncgnn.explain.capsule_names import responses
from ncgnn.explain.features import OfCapsules
from ncgnn.explain.sentence import Facts, Near, _percents, rather, sentence, without
from ncgnn.explain.text import bars
from ncgnn.explain.wording import Said, class_said

INSIDE = re.compile(r"\b(hop|hops|coupling|couplings|capsule|capsules|routing|squashing|bias)\b", re.IGNORECASE)

DRAMA = Facts(
    "Drama",
    "Comedy",
    probabilities=(0.71, 0.2),
    calibrated=True,
    score=2.0,
    own=0.9,
    supporting=0.05,
    opposing=0.03,
    bias=0.02,
    own_features=[Said("keywords", "“murder”"), Said("keywords", "“court”")],
    near=[Near("Goggles", 0.03, True), Near("Rope", 0.02, True)],
)


def test_own_features_are_the_reason():
    assert sentence(DRAMA) == ("Drama, because of its own keywords “murder” and “court”; its neighbours hardly matter.")


def test_features_that_only_matter_together_are_not_named():
    said = sentence(replace(DRAMA, own_features=[]))
    assert said == "Drama, because of many of its own traits taken together; its neighbours hardly matter."


def test_a_preference_of_the_model_is_a_reason_where_nothing_else_decides():
    even = replace(DRAMA, own=0.01, supporting=0.45, opposing=0.42, bias=0.1)
    assert sentence(even) == (
        "Drama, mainly because its neighbours speak about as much for Comedy as for Drama, and the model then prefers "
        "Drama."
    )
    quiet = replace(even, supporting=0.04, opposing=0.03)
    assert sentence(quiet).startswith("Drama, mainly because the model assumes this class when little speaks for")


def test_linked_nodes_are_the_reason():
    by_links = replace(DRAMA, own=0.01, supporting=0.9, near=[Near("Goggles", 0.5, True), Near("Rope", 0.3, True)])
    assert sentence(by_links) == "Drama, because it is linked with “Goggles”; its own features hardly matter."


def test_what_a_group_hears_of_others_is_the_reason():
    heard = replace(DRAMA, own=0.01, supporting=0.9, heard="the classes of those it links to in 'pays'")
    assert sentence(heard).startswith("Drama, because of the classes of those it links to in 'pays'; its own")
    named = replace(heard, near=[Near("Goggles", 0.5, True)])
    assert sentence(named).startswith("Drama, because of the classes of those it links to in 'pays', above all “Goggl")


def test_what_speaks_for_the_other_class_is_said():
    assert sentence(replace(DRAMA, opposing=0.6)).endswith(", although its neighbours speak for Comedy.")


def test_neighbours_that_speak_for_both_are_divided():
    divided = replace(DRAMA, supporting=0.45, opposing=0.42)
    assert sentence(divided).endswith("“murder” and “court”; its neighbours are divided.")


def test_a_class_that_is_a_number_is_called_one():
    assert class_said("4") == "class 4"
    assert class_said("Drama") == "Drama"


def test_removed_features_of_one_column_are_named_together():
    removed = [Said("title", "“yoga”"), Said("", "price 3.20 (lower than 95 % of all)"), Said("title", "“mat”")]
    assert without("features", "sport", "kitchen", removed, 6, 6) == (
        "It would be kitchen without its title “yoga” and “mat” and price 3.20 (lower than 95 % of all); a "
        "removed number counts as average."
    )
    assert without("features", "sport", "kitchen", [Said("features", "“5”")], 1, 1) == (
        "It would be kitchen without its feature “5”."
    )


def test_an_ignored_node_keeps_its_links_and_a_cut_link_leaves_its_weight_to_the_rest():
    both = [Said("", "“Goggles”"), Said("", "“Rope”")]
    assert without("neighbours", "sport", "kitchen", both, 10, 40) == (
        "It would be kitchen if the model ignored “Goggles” and “Rope”."
    )
    assert without("links", "sport", "kitchen", both, 4, 4) == (
        "It would be kitchen if its links with “Goggles” and “Rope” were cut, so that its own features and other links "
        "counted more."
    )
    assert without("links", "sport", "kitchen", both[1:], 1, 1) == (
        "It would be kitchen if its link with “Rope” were cut, so that only its own features counted."
    )


def test_what_changes_nothing_is_counted():
    def kept(what: str, most: int, total: int) -> str:
        return without(what, "sport", None, [], most, total)

    assert (
        kept("features", 1, 1) == "It would stay sport even without its only feature; the rest speaks for sport, too."
    )
    assert kept("features", 4, 4).startswith("It would stay sport even without any of its 4 features;")
    assert kept("links", 4, 4) == (
        "It would stay sport even if all of its 4 links were cut, so that only its own features counted."
    )
    assert kept("links", 10, 12).endswith(", so that its own features and other links counted more.")
    assert kept("neighbours", 10, 40) == (
        "It would stay sport even if the model ignored its 10 most important neighbours; the rest speaks for sport, "
        "too."
    )
    assert kept("links", 0, 0) == "It has no links."


def test_equal_numbers_are_too_close_to_call():
    assert sentence(replace(DRAMA, probabilities=(0.452, 0.448))).startswith(
        "Too close to call between Drama and Comedy"
    )
    assert sentence(replace(DRAMA, own=0.0, supporting=0.03, bias=0.005)).startswith("Too close to call")


def test_an_isolated_node_has_no_neighbours():
    alone = replace(DRAMA, degree=0, supporting=0.0, opposing=0.0, near=[])
    assert sentence(alone) == "Drama, because of its own keywords “murder” and “court”; it has no neighbours."
    assert "neighbours" not in rather(alone)


def test_shares_are_of_what_sets_the_two_classes_apart():
    assert rather(DRAMA) == (
        "Drama rather than Comedy (71 % against 20 %). Of what sets them apart, 97 % speaks for Drama (90 % its own "
        "features, 5 % some neighbours and 2 % the model's general leaning to it) and 3 % for Comedy (other "
        "neighbours)."
    )
    assert rather(replace(DRAMA, bias=-0.02, supporting=0.0)).endswith(
        " for Comedy (3 % its neighbours and 2 % the model's general leaning to it)."
    )


@pytest.mark.parametrize("values", [(1, 1, 1), (0.226, 0.1, 0.478, 0.196), (0.005, 0.005, 0.99), (5.0,)])
def test_percents_add_up(values):
    found = _percents(values)
    assert sum(found) == 100
    for percent, value in zip(found, values, strict=True):
        assert abs(percent - 100 * value / sum(values)) < 1


def test_reasons_for_one_class_alone_say_so():
    alone = replace(DRAMA, degree=0, supporting=0.0, opposing=0.0, near=[])
    assert ". Everything that sets them apart speaks for Drama: 98 % its own features and 2 % the model" in rather(
        alone
    )
    against = replace(alone, own=-0.9, bias=0.0)
    assert rather(against).endswith("Everything that sets them apart speaks for Comedy: its own features.")
    assert rather(replace(alone, own=0.0, bias=0.0)).endswith(": nothing sets them apart.")


def test_scores_that_are_no_probabilities_are_not_shown_as_percent():
    found = rather(replace(DRAMA, calibrated=False))
    assert found.startswith("Drama rather than Comedy (score 0.71 against 0.20; all classes add up to 1). ")


def test_the_sentence_does_not_depend_on_which_node_comes_first():
    """A ring and a node that is linked with all others, so most nodes hear fewer than a sentence may name."""
    nodes, y = torch.arange(1, 40), (torch.arange(40) >= 20).long()
    ends = [0 * nodes, *((nodes - 1 + step) % 39 + 1 for step in (1, 2, 3))]
    pairs = torch.cat([torch.stack([nodes, end]) for end in ends], dim=1)
    edges = torch.cat([pairs, pairs.flip(0)], dim=1)
    x = torch.rand(40, 8, generator=torch.Generator().manual_seed(1))
    x[torch.arange(40), y] += 0.5
    graph = complete(Data(x=x, edge_index=edges, y=y))
    turned = complete(Data(x=x.flip(0), edge_index=39 - edges, y=y.flip(0), node_ids=graph.node_ids[::-1]))
    model = NCGNNClassifier(num_capsules=3, primary_channels=8, class_channels=4, hops=[1], epochs=30)
    model.fit(split_stratified(graph, 0.4, 0.3))
    said, said_of_turned = ([one.answer.sentence for one in model.explain(data)] for data in (graph, turned))
    assert sum("its neighbours, above all their" in one for one in said) > 10
    assert said_of_turned[::-1] == said


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Data:
    folder = tmp_path_factory.mktemp("shop")
    for name, table in shop_tables().items():
        table.to_csv(folder / name, index=False)
    edges = folder / "bought-together.csv"
    return usual_split(
        read_graph(folder / "products.csv", edges, label="department", title="title", weight="orders", ignore=["shelf"])
    )


@pytest.fixture(scope="module")
def explainer(shop) -> GraphExplainer:
    return GraphExplainer(NCGNNClassifier(epochs=40).fit_scored(shop))


@pytest.fixture(scope="module")
def explanations(explainer):
    return list(explainer.explain(features=True))


def test_no_word_of_the_method_stands_above_the_fold(explanations):
    for one in explanations:
        assert not INSIDE.search(bars(one).split("\n\nDetails\n")[0])
        assert not INSIDE.search(one._repr_html_().split("<details>")[0])


def test_the_parts_add_up_to_the_lead(explainer, explanations):
    for one in explanations[:50]:
        parts = one.answer.own + one.answer.others + one.answer.bias
        assert parts == pytest.approx(one.prediction.value - one.runner_up.value, abs=1e-4)
        assert abs(one.answer.lead) <= one.answer.whole + 1e-6


def test_the_magnitudes_of_all_nodes_are_the_whole(explainer):
    (one,) = explainer.explain(["P0001"])
    trace, nodes = explainer.trace, torch.tensor(explainer.names.node_numbers(["P0001"]))
    first, second = (torch.tensor([explainer.names.class_number(c.name)]) for c in (one.prediction, one.runner_up))
    parts = by_node(trace, make_targets(trace, nodes, first, second))[0]
    assert one.answer.whole == pytest.approx(parts.abs().sum().item() + abs(one.answer.bias), rel=1e-4)


def test_products_that_were_never_bought_have_no_neighbours(explanations):
    alone = [one for one in explanations if int(one.node[1:]) > 794]
    assert len(alone) == 6
    for one in alone:
        assert "no neighbours" in one.answer.sentence or "Too close" in one.answer.sentence
        assert one.answer.others == 0


def test_a_sentence_names_words_of_the_product_itself(explanations):
    named = [one for one in explanations if "its own title “" in one.answer.sentence]
    assert len(named) > 100
    for one in named:
        (word,) = re.findall(r"its own title “([^”]+)”", one.answer.sentence)[:1]
        assert word in one.title.lower()


def test_numbers_are_said_with_their_values(shop, explainer):
    number = explainer.names.node_numbers(["P0003"])[0]
    price = shop.numbers[number, [column.name for column in shop.encoding.scaled].index("price")].item()
    assert explainer.with_value("price", number).startswith(f"price {price:,.2f} (")
    assert explainer.with_value("title:yoga", number) == "title:yoga"


def test_dates_are_early_or_late(shop, explainer):
    place = [column.name for column in shop.encoding.scaled].index("listed")
    first, last = (int(one) for one in (shop.numbers[:, place].argmin(), shop.numbers[:, place].argmax()))
    assert explainer.with_value("listed", first).endswith(" (the earliest)")
    assert explainer.with_value("listed", last).endswith(" (the latest)")


def test_capsules_are_named_by_what_they_respond_to(explainer):
    assert len(set(explainer.capsule_names)) == len(explainer.capsule_names)
    assert all(re.fullmatch(r"\d+ \(.+\)", name) for name in explainer.capsule_names)


def test_responses_and_the_share_of_the_constant_add_up_to_the_capsules(explainer):
    group = explainer._feature_shares.groups[0]
    assert isinstance(group, OfCapsules)
    z = group.group.x.product(group.w_dot.contiguous()).view(-1, *group.primary.bias.shape) + group.primary.bias
    h = group.gates * z
    constant = (h * group.gates * group.primary.bias).sum(dim=(0, 2))
    lengths = torch.linalg.vector_norm(h, dim=2).sum(dim=0)
    torch.testing.assert_close(responses(group).sum(dim=0) + constant, lengths, rtol=1e-4, atol=1e-3)
