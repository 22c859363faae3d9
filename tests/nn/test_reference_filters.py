"""The library's filters are those of the loop references."""

import numpy as np
import pytest
import torch

import ncgnn
from helpers import reference_numpy
from helpers.filter_cases import (
    DTYPES,
    FILTERS,
    ISOLATED,
    NODES,
    SOME_FILTERS,
    TOLERANCE,
    as_numpy,
    assert_agree,
    attention,
    graph,
    heat,
    ppr,
    prepare,
)


@DTYPES
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@FILTERS
def test_filter_matrix(case, weighted, dtype):
    filt = case.build().to(dtype)
    zeta = getattr(filt, "zeta", None)
    if zeta is not None:
        with torch.no_grad():
            zeta.copy_(torch.linspace(-1.0, 1.5, case.num_hops))
    expected = case.reference(reference_numpy, graph(weighted), as_numpy(zeta))
    a_bar = filt(prepare(filt, graph(weighted), dtype))
    assert_agree(a_bar.to_dense(), expected, TOLERANCE[dtype], "filter")
    p = torch.randn(NODES, 4, generator=torch.Generator().manual_seed(6)).to(dtype)
    assert_agree(a_bar @ p, expected @ as_numpy(p), TOLERANCE[dtype], "filtered features")


def star(n):
    adjacency = np.zeros((n, n))
    adjacency[0, 1:] = adjacency[1:, 0] = 1.0
    return adjacency


def ring(n):
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


def complete(n):
    return np.ones((n, n)) - np.eye(n)


@DTYPES
@pytest.mark.parametrize("sparsify", [("top-k", 1), ("top-k", 2), ("top-k", 4), ("threshold", 1 / 3)], ids=str)
@pytest.mark.parametrize("shape", [star, ring, complete])
def test_entries_that_tie_with_the_limit_are_all_kept(shape, sparsify, dtype):
    # Each row of a ring's Ã holds 1/3 three times: a tie at k = 1 and 2, and with a threshold of 1/3.
    for case in (attention((0, 1, 2, 3), sparsify), ppr(0.1, 5, sparsify), heat(1.5, None, sparsify)):
        filt = case.build().to(dtype)
        zeta = as_numpy(getattr(filt, "zeta", None))
        expected = case.reference(reference_numpy, shape(7), zeta)
        actual = filt(prepare(filt, shape(7), dtype)).to_dense()
        assert_agree(actual, expected, TOLERANCE[dtype], "filter")
        np.testing.assert_array_equal(as_numpy(actual) != 0, expected != 0)


@pytest.mark.parametrize("case", SOME_FILTERS.values(), ids=SOME_FILTERS.keys())
def test_self_loops_of_the_graph_are_no_edges(case):
    # A is the matrix of a graph without self-loops, as in the paper's table 1; the formula adds one to each node.
    adjacency = graph(weighted=True)
    filt = case.build().double()
    expected = case.reference(reference_numpy, adjacency, as_numpy(getattr(filt, "zeta", None)))
    adjacency[1, 1], adjacency[ISOLATED, ISOLATED] = 0.7, 2.0
    assert_agree(filt(prepare(filt, adjacency, torch.float64)).to_dense(), expected, 1e-9, "filter")


def test_the_prior_of_the_attention_is_the_start_of_zeta():
    prior = [0.5, -1.0, 2.0]
    filt = ncgnn.AttentionFilter(hops=(0, 1, 3), prior=prior).double()
    assert filt.zeta.tolist() == prior
    expected = reference_numpy.attention_filter(graph(True), (0, 1, 3), prior)
    assert_agree(filt(prepare(filt, graph(True), torch.float64)).to_dense(), expected, 1e-9, "filter")


def test_attention_starts_equal_without_a_prior():
    assert ncgnn.AttentionFilter(hops=(0, 1, 3)).zeta.tolist() == [0.0, 0.0, 0.0]
