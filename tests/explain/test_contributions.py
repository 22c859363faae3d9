from itertools import combinations
from unittest.mock import patch

import pytest
import torch

import ncgnn
from helpers.small_models import FILTERS, small_model
from ncgnn.errors import InputError
from ncgnn.explain import (
    GraphExplainer,
    by_capsule,
    by_node,
    decisive,
    decompose,
    heard,
    make_targets,
    of_bias,
    trace_model,
)
from ncgnn.sparse import dense_rows

CLOSE = {"atol": 1e-5, "rtol": 1e-5}


def assert_adds_up(trace, classes, against=None):
    targets = make_targets(trace, torch.arange(len(classes)), classes, against)
    parts = decompose(trace, targets, top=5)
    score = trace.lengths.gather(1, classes[:, None]).squeeze(1)
    if against is not None:
        score = score - trace.lengths.gather(1, against[:, None]).squeeze(1)
    by_neighbour = parts.nodes.value.sum(dim=1) + parts.nodes.rest
    ways = [by_neighbour, parts.capsules.sum(dim=1), *([sum(parts.hops.values())] if parts.hops else [])]
    torch.testing.assert_close(parts.score, score, **CLOSE)
    for way in ways:
        torch.testing.assert_close(way + parts.bias, score, **CLOSE)


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("graph", ["karate", "syn-cora"])
def test_parts_add_up_to_the_score_for_every_node_and_class(trained, graph, filter):
    trace = trained(graph, filter)
    for number in range(trace.lengths.shape[1]):
        assert_adds_up(trace, torch.full((len(trace.lengths),), number))


@pytest.mark.parametrize("graph", ["cora", "cora-ml"])
@pytest.mark.parametrize("filter", ["attention", "exact", "attention, top 4"])
def test_parts_add_up_on_benchmark_graphs(trained, graph, filter):
    trace = trained(graph, filter)
    assert_adds_up(trace, trace.lengths.argmax(dim=1))


@pytest.mark.parametrize("filter", FILTERS)
def test_a_comparison_of_two_classes_is_the_difference_of_their_parts(trained, filter):
    trace = trained("karate", filter)
    nodes = torch.arange(34)
    first, second = trace.lengths.topk(2, dim=1).indices.unbind(1)
    assert_adds_up(trace, first, second)
    one, other = (by_node(trace, make_targets(trace, nodes, classes)) for classes in (first, second))
    both = by_node(trace, make_targets(trace, nodes, first, second))
    torch.testing.assert_close(both, one - other, **CLOSE)


def test_hops_are_those_of_the_filter(trained):
    names = {filter: decompose(trace, one(trace)).hops for filter in FILTERS for trace in [trained("karate", filter)]}
    assert list(names["attention"]) == ["0", "1", "3"]
    assert list(names["truncated"]) == ["0", "1", "2", "3", "4"]
    assert list(names["exact"]) == [*map(str, range(10)), "farther"]
    assert list(names["attention, top 4"]) == ["1", "2", "3"]
    assert names["exact, top 4"] is None


def one(trace):
    return make_targets(trace, torch.tensor([3]), torch.tensor([1]))


@pytest.mark.parametrize(
    "filter",
    [ncgnn.AttentionFilter([0, 1, 2]), ncgnn.DiffusionFilter(), ncgnn.AttentionFilter(2, sparsify=ncgnn.TopK(2))],
)
def test_contributions_are_those_of_the_dense_matrices(edges, filter):
    """Term by term, a_ij c_jkl (W_kl h_j^k . d_il), from nothing but weights, couplings and the filter's matrix."""
    model, x = small_model(filter), torch.rand(5, 6)
    trace = trace_model(model, x, filter.prepare(edges, 5))
    with torch.no_grad():
        a, h, w, c = (
            filter(trace.prepared).to_dense(),
            model.primary.plain(x),
            model.layers[0].weight,
            trace.routing.couplings,
        )
    for i in range(5):
        for l in range(2):
            u = sum(a[i, j] * c[j, k, l] * h[j, k] @ w[k, :, l] for j in range(5) for k in range(3)) + trace.bias[l]
            d = u / u.norm()
            terms = torch.stack(
                [torch.stack([a[i, j] * c[j, k, l] * (h[j, k] @ w[k, :, l]) @ d for k in range(3)]) for j in range(5)]
            ).detach()
            targets = make_targets(trace, torch.tensor([i]), torch.tensor([l]))
            torch.testing.assert_close(by_node(trace, targets)[0], terms.sum(dim=1), **CLOSE)
            torch.testing.assert_close(by_capsule(trace, targets)[0], terms.sum(dim=0), **CLOSE)
            torch.testing.assert_close(terms.sum() + of_bias(trace, targets)[0], u.norm().detach(), **CLOSE)


@pytest.mark.parametrize("filter", FILTERS)
def test_small_batches_give_what_one_batch_gives(trained, filter):
    trace = trained("karate", filter)
    targets = make_targets(trace, torch.arange(34), trace.lengths.argmax(dim=1))
    at_once = decompose(trace, targets).nodes
    with patch.object(heard, "BATCH_ENTRIES", 100):
        in_pieces = decompose(trace, targets).nodes
    torch.testing.assert_close(in_pieces.value.abs(), at_once.value.abs(), **CLOSE)
    torch.testing.assert_close(in_pieces.rest, at_once.rest, **CLOSE)


def test_the_nodes_named_are_those_with_the_largest_parts(trained):
    trace = trained("karate", "attention")
    targets = make_targets(trace, torch.tensor([5, 0]), torch.tensor([1, 1]))
    found, every = decompose(trace, targets, top=3).nodes, by_node(trace, targets)
    least = found.value.abs().amin(dim=1, keepdim=True)
    assert ((every.abs() > least * (1 + 1e-5)).sum(dim=1) <= 2).all()
    torch.testing.assert_close(every.gather(1, found.index), found.value)


def test_the_same_answer_on_every_run(trained):
    trace = trained("karate", "attention")
    targets = make_targets(trace, torch.arange(34), torch.zeros(34, dtype=torch.int64))
    first, second = decompose(trace, targets), decompose(trace, targets)
    assert torch.equal(first.nodes.index, second.nodes.index)
    assert torch.equal(first.nodes.value, second.nodes.value)
    assert torch.equal(first.capsules, second.capsules)


def test_a_class_capsule_of_length_zero_has_parts_of_zero(edges):
    model = small_model(ncgnn.AttentionFilter(1))
    for parameter in (model.layers[0].weight, model.layers[0].bias):
        torch.nn.init.zeros_(parameter)
    trace = trace_model(model, torch.rand(5, 6), model.filter.prepare(edges, 5))
    parts = decompose(trace, make_targets(trace, torch.arange(5), torch.zeros(5, dtype=torch.int64)))
    assert not parts.score.any()
    assert not parts.capsules.any()
    assert not parts.nodes.value.any()


def test_hidden_layers_are_refused(edges):
    filter = ncgnn.AttentionFilter(1)
    model = ncgnn.NCGNN(6, 2, filter, num_capsules=3, primary_channels=4, class_channels=5, hidden=[(2, 4)])
    with pytest.raises(InputError, match="without hidden capsule layers can be explained; this one has 1"):
        trace_model(model, torch.rand(5, 6), filter.prepare(edges, 5))


def lead_without(trace, node: int, chosen: int, gone: list[int]) -> float:
    a = dense_rows(trace.a_bar, torch.tensor([node]))[:, 0].clone()
    a[gone] = 0
    lengths = (torch.einsum("j,jlf->lf", a, trace.p) + trace.bias).norm(dim=-1)
    others = [length for l, length in enumerate(lengths.tolist()) if l != chosen]
    return lengths[chosen].item() - max(others)


@pytest.mark.parametrize("filter", ["attention", "exact", "attention, top 4"])
def test_the_first_is_the_one_that_is_missed_most(trained, filter):
    trace = trained("karate", filter)
    for node in range(0, 34, 5):
        chosen = int(trace.scores[node].argmax())
        order = decisive(trace, node, chosen).tolist()
        heard = dense_rows(trace.a_bar, torch.tensor([node]))[:, 0].nonzero().flatten().tolist()
        assert sorted(order) == heard
        leads = {j: lead_without(trace, node, chosen, [j]) for j in heard}
        assert leads[order[0]] == pytest.approx(min(leads.values()), abs=1e-6)
        second = {j: lead_without(trace, node, chosen, [order[0], j]) for j in heard if j != order[0]}
        assert second[order[1]] == pytest.approx(min(second.values()), abs=1e-6)


def test_no_other_pair_is_missed_much_more(trained):
    trace = trained("karate", "attention")
    chosen = int(trace.scores[8].argmax())
    order = decisive(trace, 8, chosen).tolist()
    everyone = lead_without(trace, 8, chosen, [])
    best = min(lead_without(trace, 8, chosen, list(pair)) for pair in combinations(order, 2))
    assert everyone - lead_without(trace, 8, chosen, order[:2]) >= 0.9 * (everyone - best)


def test_ids_of_decisive_nodes(club, karate):
    explainer = GraphExplainer(club.scored(karate))
    found = explainer.decisive("33", top=3)
    chosen = int(explainer.trace.scores[33].argmax())
    assert found == [str(j) for j in decisive(explainer.trace, 33, chosen)[:3].tolist()]
