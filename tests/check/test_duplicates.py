import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.clean_graph import with_edges
from ncgnn.check import duplicates
from ncgnn.check.duplicates import (
    duplicate_findings,
    duplicate_groups,
    groups,
    neighbour_fingerprints,
    row_fingerprints,
)
from ncgnn.check.view import View

SMALL = arrays(np.float32, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.sampled_from([0.0, 1.0, -2.0]))


def copy_nodes(data, edges: np.ndarray, count: int, features: bool = True, link: bool = False):
    """Test nodes that become copies of training nodes: their edges are replaced by those of the originals."""
    originals = np.flatnonzero(data.train_mask.numpy())[:count]
    copies = np.flatnonzero(data.test_mask.numpy())[:count]
    kept = edges[~np.isin(edges, [*originals, *copies]).any(axis=1)]
    rng = np.random.default_rng(3)
    others = np.setdiff1d(np.arange(data.num_nodes), [*originals, *copies])
    new = []
    for original, copy in zip(originals, copies, strict=True):
        neighbours = rng.choice(others, 4, replace=False)
        new += [(node, other) for node in (original, copy) for other in neighbours]
        new += [(original, copy)] * link
    out = with_edges(data, np.concatenate([kept, new]))
    if features:
        out.x = data.x.clone()
        out.x[copies] = out.x[originals]
    return out, originals, copies


@pytest.mark.parametrize(("features", "link"), [(True, False), (False, False), (True, True)])
def test_copies_across_the_split_are_serious(clean, edges, features, link):
    data, originals, copies = copy_nodes(clean, edges, 12, features, link)
    (finding,) = duplicate_findings(View.of(data))
    assert (finding.level, finding.count) == ("serious", 24)
    assert finding.first == [f"{copy} = {original}" for copy, original in zip(copies, originals, strict=True)][:5]
    assert f"; 12 of {int(data.test_mask.sum())} test nodes have such a copy in training" in finding.what


def test_few_copies_are_a_note(clean, edges):
    data, *_ = copy_nodes(clean, edges, 1)
    (finding,) = duplicate_findings(View.of(data))
    assert (finding.level, finding.count) == ("note", 2)


def test_without_a_split_copies_are_still_named(clean, edges):
    data, *_ = copy_nodes(clean, edges, 3)
    del data.train_mask
    (finding,) = duplicate_findings(View.of(data))
    assert finding.count == 6
    assert "test" not in finding.what


def test_leaves_of_a_hub_and_members_of_a_clique_are_no_copies(clean):
    leaves = np.array([(0, node) for node in range(1, 100)])
    clique = np.array([(a, b) for a in range(100, 110) for b in range(100, a)])
    data = with_edges(clean, np.concatenate([leaves, clique]))
    assert duplicate_findings(View.of(data)) == []


def test_every_group_has_one_number(clean, edges):
    data, originals, copies = copy_nodes(clean, edges, 5)
    numbers = duplicate_groups(View.of(data))
    assert np.array_equal(numbers[originals], numbers[copies])
    assert len(np.unique(numbers)) == data.num_nodes - 5


def pairs(numbers: np.ndarray) -> np.ndarray:
    return numbers[:, None] == numbers[None, :]


@given(SMALL)
def test_rows_have_equal_fingerprints_where_they_are_equal_and_nowhere_else(x):
    equal = (x[:, None, :] == x[None, :, :]).all(axis=2)
    assert np.array_equal(pairs(row_fingerprints(sp.csr_array(x))), equal)


def test_the_order_of_entries_and_stored_zeros_do_not_matter():
    sorted_ones = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 3]), np.array([0, 2])), shape=(1, 5))
    others = sp.csr_array((np.array([2.0, 0.0, 1.0]), np.array([3, 1, 0]), np.array([0, 3])), shape=(1, 5))
    assert np.array_equal(row_fingerprints(sorted_ones), row_fingerprints(others))


def test_a_matrix_in_blocks_has_the_fingerprints_of_the_whole(monkeypatch):
    x = sp.random_array((60, 20), density=0.3, format="csr", rng=np.random.default_rng(0))
    whole = row_fingerprints(x)
    monkeypatch.setattr(duplicates, "_ENTRIES", 10)
    assert np.array_equal(row_fingerprints(x), whole)


def test_linked_copies_have_equal_neighbours_only_if_each_counts_itself():
    # nodes 0 and 1 are linked and share neighbour 2; nodes 3 and 4 share neighbour 5 and are not linked
    ends = np.array([[0, 1], [0, 2], [1, 2], [3, 5], [4, 5]])
    rows = np.concatenate([ends, ends[:, ::-1]])
    adjacency = sp.csr_array((np.ones(len(rows), np.float32), (rows[:, 0], rows[:, 1])), shape=(6, 6))
    open_ones, closed_ones = (neighbour_fingerprints(adjacency, closed) for closed in (False, True))
    assert (open_ones[0] == open_ones[1], closed_ones[0] == closed_ones[1]) == (False, True)
    assert (open_ones[3] == open_ones[4], closed_ones[3] == closed_ones[4]) == (True, False)


def test_nodes_are_together_if_all_fingerprints_are_equal():
    first, second = np.array([1, 1, 1, 2], np.uint64), np.array([5, 5, 6, 5], np.uint64)
    numbers = groups(first, second)
    assert numbers[0] == numbers[1]
    assert len({*numbers}) == 3
