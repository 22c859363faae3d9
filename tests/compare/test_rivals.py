import pytest

from ncgnn.classifier import NodeClassifier
from ncgnn.compare import compare, rivals
from ncgnn.data import split_stratified, syn_cora
from ncgnn.models import PreparedGraph, find_model

SMALL = {"hops": 2, "num_capsules": 2, "primary_channels": 8, "class_channels": 4, "epochs": 1}


def test_rivals_come_from_the_simplest_on_and_a_model_is_not_its_own():
    simple = ["label propagation", "gradient boosting", "linear GNN", "boosting with neighbours"]
    others = ["Correct and Smooth", "GCN", "APPNP"]
    assert [rival.title for rival in rivals("ncgnn")] == [*simple, "MLP", *others]
    assert [rival.title for rival in rivals("mlp")] == [*simple, *others]


def test_a_search_trains_some_of_them_whose_cost_its_budget_includes():
    assert [rival.name for rival in rivals("ncgnn", of_search=True)] == [
        "label-propagation",
        "neighbour-boosting",
        "gcn",
        "appnp",
    ]
    assert [rival.name for rival in rivals("gcn", of_search=True)] == [
        "label-propagation",
        "neighbour-boosting",
        "appnp",
    ]


@pytest.mark.parametrize("rival", rivals("ncgnn"), ids=lambda rival: rival.name)
def test_a_rival_learns_from_what_it_knows(rival):
    """In a graph of edges within classes and of words, all are better than chance, which is a fifth."""
    graph = PreparedGraph.of(split_stratified(syn_cora(0.9, num_nodes=200), seed=0))
    scored = NodeClassifier("ncgnn", SMALL).fit_scored(graph)
    _, row = compare(graph, find_model("ncgnn"), scored, 0.0, [rival])
    assert (row.model, row.knows) == (rival.title, rival.knows)
    assert row.test_accuracy is not None
    assert row.test_accuracy > 0.3
    assert NodeClassifier(rival.name).fit(graph).predict(graph).shape == (200,)
