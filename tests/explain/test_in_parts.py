"""Explanations part by part are those of the full batch."""

import gc
import weakref
from dataclasses import asdict
from unittest.mock import patch

import pytest

from helpers.batches import FILTERS
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import complete, split_stratified
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.errors import InputError
from ncgnn.explain import GraphExplainer, PartsExplainer, in_parts
from ncgnn.sparse import pool

QUICK = {"num_capsules": 3, "primary_channels": 8, "class_channels": 4, "top_k": 6, "epochs": 3, "batch": 20}


@pytest.fixture(scope="module")
def graph():
    found = complete(random_graph(90, mean_degree=2.5, num_features=12, num_classes=3))
    found.node_titles = [f"title {number}" if number % 2 else "" for number in range(90)]
    return split_stratified(found, 0.4, 0.3)


def explained(explainer, nodes=None, **how):
    return [rounded(asdict(one)) for one in explainer.explain(nodes, **how)]


def rounded(found):
    """Numbers that can be compared."""
    if isinstance(found, dict):
        return {key: rounded(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(value) for value in found]
    return pytest.approx(found, abs=1e-6) if isinstance(found, float) else found


@pytest.mark.parametrize("filter", [name for name in FILTERS if name != "hidden"])
@pytest.mark.parametrize("how", [{}, {"against": "runner-up"}, {"against": "others"}, {"features": True, "top": 3}])
def test_parts_give_the_explanations_of_the_full_batch(graph, filter, how):
    clf = NCGNNClassifier(**QUICK | FILTERS[filter]).fit(graph)
    with patch.object(in_parts, "PART", 40):
        parts = clf.explainer(graph)
        assert isinstance(parts, PartsExplainer)
        whole = GraphExplainer(clf.scored(graph, whole=True))
        assert explained(parts, **how) == explained(whole, **how)
    assert str(parts.selection) == str(whole.selection)


@pytest.mark.parametrize("how", [{}, {"against": "runner-up", "features": True}])
def test_only_one_part_is_in_memory(graph, monkeypatch, how):
    parts = NCGNNClassifier(**QUICK).fit(graph).explainer(graph)
    made: list[weakref.ref] = []
    at = parts._at

    def told(nodes):
        assert sum(one() is not None for one in made) <= 1  # the first one, for what is the same in all
        part = at(nodes)
        made.append(weakref.ref(part))
        return part

    monkeypatch.setattr(parts, "_at", told)
    monkeypatch.setattr(in_parts, "PART", 10)
    monkeypatch.setattr(pool, "_SMALLEST", 0)
    gc.collect()
    gc.disable()
    try:
        for _ in parts.explain(**how):
            pass
    finally:
        gc.enable()
    assert len(made) >= 9
    assert not any(pool._free.values())


def test_nodes_come_in_the_order_they_were_asked_for(graph):
    clf = NCGNNClassifier(**QUICK).fit(graph)
    assert [one.node for one in clf.explain(graph, ["33", "2", "33"])] == ["33", "2", "33"]
    with pytest.raises(InputError, match="there is no node '90'"):
        clf.explain(graph, ["90"])


def test_a_counterfactual_takes_the_full_batch(graph):
    clf = NCGNNClassifier(**QUICK).fit(graph)
    (one,) = clf.explain(graph, ["5"])
    whole = GraphExplainer(clf.scored(graph, whole=True))
    assert one.counterfactual() == whole.counterfactual("5")


def test_models_with_hidden_layers_are_refused(graph):
    clf = NCGNNClassifier(**QUICK | FILTERS["hidden"]).fit(graph)
    with pytest.raises(InputError, match="without hidden capsule layers"):
        clf.explain(graph, ["5"])
