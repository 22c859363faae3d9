from itertools import product

import pytest
import torch

import ncgnn
from helpers.small_models import small_model
from ncgnn.errors import InputError
from ncgnn.explain import make_targets, trace_model
from ncgnn.explain.walks import by_edge

CLOSE = {"atol": 1e-5, "rtol": 1e-4}
SQUARE = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2], [1, 0, 2, 1, 3, 2, 2, 0]])


def traced(filter, edges=SQUARE, weight=None):
    x = torch.rand(4, 6, generator=torch.Generator().manual_seed(1))
    return trace_model(small_model(filter), x, filter.prepare(edges, 4, weight))


@pytest.mark.parametrize("filter", [ncgnn.AttentionFilter([0, 1, 3]), ncgnn.DiffusionFilter(alpha=0.2, steps=3)])
def test_an_edge_has_the_part_of_the_walks_that_cross_it(filter):
    """Every walk of up to three steps on four nodes, one by one."""
    trace = traced(filter)
    target = make_targets(trace, torch.tensor([3]), torch.tensor([1]))
    a, q, xi = trace.a_bar.base.to_dense(), target.heard(trace.p)[:, 0], filter.coefficients().float()
    expected = torch.zeros(4, 4)
    for length in (1, 2, 3):
        for walk in product(range(4), repeat=length):
            steps = list(zip((3, *walk[:-1]), walk, strict=True))
            part = xi[length] * torch.stack([a[step] for step in steps]).prod() * q[walk[-1]]
            for step in steps:
                expected[step] += part.detach()
    torch.testing.assert_close(by_edge(trace, target, SQUARE), expected[SQUARE[1], SQUARE[0]], **CLOSE)


def test_the_closed_form_of_exact_pagerank_is_the_limit_of_long_sums():
    found = []
    for steps in (None, 80):
        trace = traced(ncgnn.DiffusionFilter(alpha=0.3, steps=steps))
        targets = make_targets(trace, torch.tensor([0, 2]), torch.tensor([1, 0]))
        found.append(by_edge(trace, targets, SQUARE))
    torch.testing.assert_close(found[0], found[1], **CLOSE)


def test_parts_of_several_nodes_are_summed():
    trace = traced(ncgnn.AttentionFilter(2))
    nodes, classes = torch.tensor([0, 3]), torch.tensor([1, 0])
    single = [by_edge(trace, make_targets(trace, nodes[i : i + 1], classes[i : i + 1]), SQUARE) for i in range(2)]
    torch.testing.assert_close(by_edge(trace, make_targets(trace, nodes, classes), SQUARE), single[0] + single[1])


def test_repeated_edges_divide_their_part_by_weight_and_loops_have_none():
    loop = torch.tensor([[1], [1]])
    edges = torch.cat([SQUARE, SQUARE[:, :2], loop], dim=1)
    weight = torch.tensor([1.0] * 8 + [3.0, 3.0, 1.0])
    summed = torch.tensor([4.0, 4.0] + [1.0] * 6)
    filter = ncgnn.AttentionFilter(2)
    trace = traced(filter, edges, weight)
    target = make_targets(trace, torch.tensor([0]), torch.tensor([0]))
    whole = by_edge(trace, target, SQUARE, summed)
    parts = by_edge(trace, target, edges, weight)
    torch.testing.assert_close(parts[:2], whole[:2] / 4)
    torch.testing.assert_close(parts[8:10], whole[:2] * 3 / 4)
    torch.testing.assert_close(parts[2:8], whole[2:])
    assert parts[10] == 0


def test_sparsified_filters_have_no_walks():
    trace = traced(ncgnn.AttentionFilter(2, sparsify=ncgnn.TopK(2)))
    with pytest.raises(InputError, match="use an unsparsified filter"):
        by_edge(trace, make_targets(trace, torch.tensor([0]), torch.tensor([0])), SQUARE)
