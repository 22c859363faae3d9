import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ncgnn.check import fingerprints
from ncgnn.check.fingerprints import groups, neighbour_fingerprints, row_fingerprints

SMALL = arrays(np.float32, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.sampled_from([0.0, 1.0, -2.0]))


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
    monkeypatch.setattr(fingerprints, "_ENTRIES", 10)
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
