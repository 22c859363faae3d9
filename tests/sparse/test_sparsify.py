import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgnn.sparse import HopBank, Threshold, TopK, hop_matrices, kernels, normalize, polynomial_matrix
from ncgnn.sparse.sparsify import kth_largest


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


@pytest.mark.parametrize("rule", [TopK(3), TopK(20), Threshold(0.3)])
def test_a_dense_array_is_sparsified_like_the_same_matrix_in_compressed_rows(rule):
    dense = symmetric(11, 2)
    assert (dense == 0).any()
    one, other = rule(dense), rule(sp.csr_matrix(dense))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


def test_normalisation_divides_by_the_row_sums_on_both_sides():
    matrix = np.array([[1.0, 3.0], [0.0, 4.0]])
    np.testing.assert_allclose(normalize(sp.csr_matrix(matrix)).toarray(), [[0.25, 0.75], [0.0, 1.0]])


def test_empty_rows_stay_empty():
    assert normalize(sp.csr_matrix((2, 2))).toarray().sum() == 0


@pytest.mark.parametrize("rule", [None, TopK(3), Threshold(0.05)])
def test_powers_do_not_depend_on_how_the_work_is_divided(rule, monkeypatch):
    a = sp.csr_matrix(symmetric(11, 0))
    hops, xi = [0, 1, 3], [0.1, 0.2, 0.3]
    whole = [*hop_matrices(a, hops, rule), polynomial_matrix(a, xi, rule)]
    monkeypatch.setattr(kernels, "_CHUNKS_PER_THREAD", 1)
    blocks = [*hop_matrices(a, hops, rule), polynomial_matrix(a, xi, rule)]
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_powers_equal_dense_ones():
    a = symmetric(9, 1)
    for hop, power in zip([0, 2, 5], hop_matrices(sp.csr_matrix(a), [0, 2, 5], None), strict=True):
        np.testing.assert_allclose(power.toarray(), np.linalg.matrix_power(a, hop), atol=1e-12)


@pytest.mark.parametrize("rule", [TopK(3), Threshold(0.2)])
def test_powers_and_their_sum_are_sparsified_as_whole_matrices_are(rule):
    a, xi = symmetric(11, 3), [0.1, 0.2, 0.0, 0.4]
    powers = [np.linalg.matrix_power(a, hop) for hop in range(4)]
    expected = [*powers[1:], sum(c * power for c, power in zip(xi, powers, strict=True))]
    found = [*hop_matrices(sp.csr_matrix(a), [1, 2, 3], rule), polynomial_matrix(sp.csr_matrix(a), xi, rule)]
    for one, other in zip(found, expected, strict=True):
        assert one.has_canonical_format
        np.testing.assert_allclose(one.toarray(), normalize(rule(sp.csr_matrix(other))).toarray(), atol=1e-12)


def test_the_hops_share_the_union_of_their_patterns():
    a = sp.csr_matrix(symmetric(9, 4))
    matrices = hop_matrices(a, [0, 1, 3], TopK(2))
    bank = HopBank.from_scipy(matrices, torch.float64)
    for hop, matrix in zip(torch.eye(3, dtype=torch.float64), matrices, strict=True):
        np.testing.assert_array_equal(bank.combine(hop).to_dense().numpy(), matrix.toarray())
    assert bank.pattern.indices.numel() == (sum(m.toarray() for m in matrices) > 0).sum()


def test_an_edge_of_weight_zero_leads_nowhere_twice():
    zero = sp.csr_matrix((np.array([0.0, 1.0, 0.0, 1.0]), [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    (power,) = hop_matrices(zero, [3], None)
    assert power.has_canonical_format
    np.testing.assert_array_equal(power.toarray(), [[0.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize("k", [1, 2, 7, 29, 30])
def test_the_kth_largest_is_found_among_ties_too(k):
    rng = np.random.default_rng(k)
    for values in (rng.random(30), rng.integers(3, size=30).astype(float), np.zeros(30), np.arange(30.0)):
        before = values.copy()
        assert kth_largest(values, k) == np.sort(values)[-k]
        assert np.array_equal(values, before)
