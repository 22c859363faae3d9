from typing import cast
from unittest.mock import patch

import pytest
import torch

from helpers.group_models import grouped_trace
from helpers.small_models import FILTERS, SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import split_stratified
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.explain import GraphExplainer, ahead_of_others, by_node, heard, make_targets, trace_model
from ncgnn.explain.contributions import pulls, top_nodes
from ncgnn.explain.trace import Trace
from ncgnn.nn import NCGNN


@pytest.fixture(scope="module", params=FILTERS)
def trace(request, karate) -> Trace:
    """In double precision, with a filter of each kind."""
    scored = NCGNNClassifier(**SMALL, **FILTERS[request.param], epochs=3).fit_scored(karate)
    model = cast(NCGNN, scored.module.double())
    return trace_model(
        model, karate.x.to_dense().double(), model.filter.prepare(karate.edge_index, 34, None, torch.float64)
    )


def targets_of(trace, against):
    nodes = torch.arange(len(trace.scores))
    first, second = trace.lengths.topk(2, dim=1).indices.unbind(1)
    if against == "others":
        return ahead_of_others(trace, nodes, first)
    return make_targets(trace, nodes, first, {None: None, "runner-up": second}[against])


AGAINST = [None, "runner-up", "others"]


@pytest.mark.parametrize("against", AGAINST)
def test_contributions_are_those_of_the_dense_rows(trace, against):
    assert_same(trace, targets_of(trace, against))


@pytest.mark.parametrize("against", AGAINST)
def test_contributions_of_several_groups_are_those_of_the_dense_rows(against):
    trace = grouped_trace()
    assert_same(trace, targets_of(trace, against))


def assert_same(trace, targets):
    dense = by_node(trace, targets)
    magnitude = dense.abs()
    for top in (1, 5, dense.shape[1]):
        found = top_nodes(trace, targets, top)
        expected = magnitude.topk(min(top, found.value.shape[1]), dim=1).values
        torch.testing.assert_close(found.value.abs(), expected, atol=1e-9, rtol=0)
        torch.testing.assert_close(dense.gather(1, found.index)[found.value != 0], found.value[found.value != 0])
        torch.testing.assert_close(found.value.sum(dim=1) + found.rest, dense.sum(dim=1))
    pulled = pulls(trace, targets, 3)
    own = targets.nodes[:, None]
    torch.testing.assert_close(pulled.index[:, :1], own)
    torch.testing.assert_close(pulled.value[:, :1], dense.gather(1, own))
    others = magnitude.scatter(1, own, 0).topk(3, dim=1).values
    torch.testing.assert_close(pulled.value[:, 1:].abs(), others, atol=1e-9, rtol=0)
    torch.testing.assert_close(pulled.total, dense.sum(dim=1))
    torch.testing.assert_close(pulled.magnitude, magnitude.sum(dim=1))
    for group, weights in zip(trace.groups, pulled.weights, strict=True):
        is_node = (pulled.value != 0).index_fill(1, torch.tensor([0]), True)
        torch.testing.assert_close(weights, group.a_bar.to_dense().gather(1, pulled.index) * is_node)


def test_a_batch_of_any_size_gives_the_same_explanations(club, karate):
    explainer = GraphExplainer(club.scored(karate))
    at_once = [str(one) for one in explainer.explain(against="runner-up", features=True)]
    with patch.object(heard, "BATCH_ENTRIES", 50):
        assert [str(one) for one in explainer.explain(against="runner-up", features=True)] == at_once


@pytest.mark.parametrize("top_k", [None, 8])
def test_the_entries_a_node_takes_do_not_grow_with_the_graph(top_k):
    """Four times as many nodes of the same degree: as many entries per node."""
    entries = []
    for nodes in (2_000, 8_000):
        data = split_stratified(random_graph(nodes, 6.0, num_features=4, num_classes=3), 0.1, 0.1)
        scored = NCGNNClassifier(**SMALL, hops=[0, 1, 2], top_k=top_k, epochs=1).fit_scored(data)
        trace = GraphExplainer(scored).trace
        targets = make_targets(trace, torch.arange(500), torch.zeros(500, dtype=torch.int64))
        entries.append(len(heard.heard(trace, targets).entries.values))
    assert entries[1] < 1.2 * entries[0]
