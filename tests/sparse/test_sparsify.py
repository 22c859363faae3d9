import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgnn.sparse import Threshold, TopK, hop_matrices, normalize, polynomial_matrix
from ncgnn.sparse import powers as powers_module


def symmetric(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4))
    return upper + upper.T


def test_top_k_keeps_the_largest_entries_and_all_ties_with_the_last():
    row = sp.csr_matrix([[5.0, 3.0, 3.0, 3.0, 1.0], [1.0, 2.0, 0.0, 0.0, 0.0]])
    kept = TopK(2)(row).toarray()
    np.testing.assert_array_equal(kept, [[5.0, 3.0, 3.0, 3.0, 0.0], [1.0, 2.0, 0.0, 0.0, 0.0]])


def test_values_that_differ_by_rounding_alone_are_ties():
    row = sp.csr_matrix([[0.1 + 0.2, 0.3, 0.2]])
    assert TopK(1)(row).nnz == 2


def test_threshold_keeps_the_entries_at_and_above_it():
    kept = Threshold(0.3)(sp.csr_matrix([[0.1 + 0.2, 0.29, 0.31]])).toarray()
    np.testing.assert_allclose(kept, [[0.3, 0.0, 0.31]])


@pytest.mark.parametrize("wrong", [lambda: TopK(0), lambda: Threshold(0.0), lambda: Threshold(float("nan"))])
def test_senseless_rules_are_refused(wrong):
    with pytest.raises(ValueError, match=r"keeps|positive"):
        wrong()


@given(n=st.integers(1, 12), k=st.integers(1, 6), seed=st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_top_k_keeps_at_least_k_and_nothing_below_what_it_drops(n, k, seed):
    matrix = sp.csr_matrix(symmetric(n, seed))
    kept = TopK(k)(matrix).toarray()
    for before, after in zip(matrix.toarray(), kept, strict=True):
        assert (after > 0).sum() >= min(k, (before > 0).sum())
        dropped = before[after == 0]
        assert not (after > 0).any() or dropped.max(initial=0) < after[after > 0].min()


def test_normalisation_divides_by_the_row_sums_on_both_sides():
    matrix = np.array([[1.0, 3.0], [0.0, 4.0]])
    np.testing.assert_allclose(normalize(sp.csr_matrix(matrix)).toarray(), [[0.25, 0.75], [0.0, 1.0]])


def test_empty_rows_stay_empty():
    assert normalize(sp.csr_matrix((2, 2))).toarray().sum() == 0


@pytest.mark.parametrize("rule", [None, TopK(3), Threshold(0.05)])
def test_powers_do_not_depend_on_the_blocks_they_are_made_in(rule, monkeypatch):
    a = sp.csr_matrix(symmetric(11, 0))
    hops, xi = [0, 1, 3], [0.1, 0.2, 0.3]
    whole = [*hop_matrices(a, hops, rule), polynomial_matrix(a, xi, rule)]
    monkeypatch.setattr(powers_module, "_ROWS_AT_A_TIME", 4)
    blocks = [*hop_matrices(a, hops, rule), polynomial_matrix(a, xi, rule)]
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_powers_equal_dense_ones():
    a = symmetric(9, 1)
    for hop, power in zip([0, 2, 5], hop_matrices(sp.csr_matrix(a), [0, 2, 5], None), strict=True):
        np.testing.assert_allclose(power.toarray(), np.linalg.matrix_power(a, hop), atol=1e-12)
