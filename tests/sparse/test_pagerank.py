import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.random_graphs import random_graph
from ncgnn.sparse import TopK, exact_pagerank, kernels, normalized_adjacency, push_pagerank
from ncgnn.sparse import pagerank as pagerank_module


def test_exact_pagerank_is_the_limit_of_its_series():
    a = random_graph(30, 60, 0)
    series, power = np.zeros((30, 30)), np.eye(30)
    for i in range(2000):
        series += 0.1 * 0.9**i * power
        power = power @ a.toarray()
    np.testing.assert_allclose(exact_pagerank(a, 0.1), series, atol=1e-12)


@given(
    n=st.integers(1, 60),
    edges=st.integers(0, 150),
    alpha=st.sampled_from([0.05, 0.1, 0.5]),
    tolerance=st.sampled_from([1e-2, 1e-4, 1e-6]),
    weighted=st.booleans(),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=60, deadline=None)
def test_push_stays_within_its_stated_bound(n, edges, alpha, tolerance, weighted, seed):
    a = random_graph(n, edges, seed, weighted)
    found = push_pagerank(a, alpha, TopK(n), tolerance).toarray()
    root = 1 / np.sqrt(a.diagonal())
    error = exact_pagerank(a, alpha) - found
    assert (error <= tolerance * np.outer(root, root) + 1e-12).all()
    assert (error >= -1e-12).all()


def test_push_finds_the_largest_entries():
    a = random_graph(80, 200, 3)
    found = push_pagerank(a, 0.1, TopK(10), 1e-9).toarray()
    expected = TopK(10)(sp.csr_matrix(exact_pagerank(a, 0.1))).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("shape", ["ring", "star"])
def test_push_keeps_all_ties_with_the_last_entry(shape, k):
    n = 30
    others = torch.arange(1, n)
    ends = torch.stack([others - 1 if shape == "ring" else torch.zeros_like(others), others])
    ends = torch.cat([ends, torch.tensor([[n - 1], [0]])], dim=1) if shape == "ring" else ends
    a = normalized_adjacency(torch.cat([ends, ends.flip(0)], dim=1), n)
    kept = push_pagerank(a, 0.1, TopK(k), 1e-4).toarray() > 0
    assert kept[TopK(k)(sp.csr_matrix(exact_pagerank(a, 0.1))).toarray() > 0].all()


def test_push_gives_the_same_rows_however_the_work_is_divided(monkeypatch):
    a = random_graph(50, 120, 4)
    few = push_pagerank(a, 0.1, TopK(5), 1e-5).toarray()
    monkeypatch.setattr(kernels, "_CHUNKS_PER_THREAD", 20)
    np.testing.assert_array_equal(few, push_pagerank(a, 0.1, TopK(5), 1e-5).toarray())


def test_push_refuses_a_directed_graph():
    a = normalized_adjacency(torch.tensor([[0], [1]]), 2)
    with pytest.raises(ValueError, match="undirected"):
        push_pagerank(a, 0.1, TopK(2), 1e-4)


@pytest.mark.parametrize("is_directed", [False, True])
def test_exact_pagerank_is_an_inverse_on_undirected_and_on_directed_graphs(is_directed):
    a = random_graph(40, 90, 5, weighted=True)
    a = normalized_adjacency(torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]]), 4) if is_directed else a
    n = a.shape[0]
    back = exact_pagerank(a, 0.15) @ (np.eye(n) - 0.85 * a.toarray())
    np.testing.assert_allclose(back, 0.15 * np.eye(n), atol=1e-13)


def test_exact_pagerank_refuses_graphs_too_large_to_invert(monkeypatch):
    monkeypatch.setattr(pagerank_module, "EXACT_LIMIT", 10)
    with pytest.raises(ValueError, match=r"stops at 10 nodes, this graph has 11.*steps=P"):
        exact_pagerank(random_graph(11, 5, 0), 0.1)
