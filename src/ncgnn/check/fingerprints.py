"""Find equal rows and equal neighbourhoods with 64-bit sums of random numbers instead of comparing all pairs."""

import numpy as np
import scipy.sparse as sp

_ENTRIES = 4_000_000  # at a time: each needs about 50 bytes
_ODD = np.uint64(0x9E3779B97F4A7C15)


def row_fingerprints(x: sp.csr_array) -> np.ndarray:
    """A fingerprint of each row of a matrix: equal rows have equal ones; collisions are very unlikely."""
    if not x.nnz:
        return np.zeros(x.shape[0], np.uint64)
    rows = max(1, _ENTRIES * x.shape[0] // x.nnz)
    return np.concatenate([_fingerprints(x[start : start + rows]) for start in range(0, x.shape[0], rows)])


def _fingerprints(x: sp.csr_array) -> np.ndarray:
    columns = _scramble(x.indices.astype(np.uint64))
    values = x.data.astype(np.float32).view(np.uint32).astype(np.uint64)
    entries = np.where(x.data == 0, np.uint64(0), _scramble(columns ^ (values * _ODD)))
    return _row_sums(entries, x.indptr)


def neighbour_fingerprints(adjacency: sp.csr_array, closed: bool) -> np.ndarray:
    """A fingerprint of each node's neighbours and their weights; with ``closed``, it includes the node itself.

    Two copies of a page that link to each other have equal neighbours only if each counts itself.
    """
    open_ones = row_fingerprints(adjacency)
    if not closed:
        return open_ones
    itself = sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr")
    closed_ones: np.ndarray = open_ones + row_fingerprints(itself)
    return closed_ones


def groups(*fingerprints: np.ndarray) -> np.ndarray:
    """The index of each node's group; nodes are in the same group if all their fingerprints are equal."""
    joined = np.zeros(len(fingerprints[0]), np.uint64)
    for part in fingerprints:
        joined = _scramble(joined * _ODD + part)
    numbers: np.ndarray = np.unique(joined, return_inverse=True)[1]
    return numbers


def _scramble(numbers: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64: one bit changed in the input changes half of the bits of the result."""
    mixed = numbers + _ODD
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _row_sums(numbers: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums modulo 2^64, for which the order of a row's entries does not matter."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(numbers, dtype=np.uint64)])
    return np.asarray(total[indptr[1:]] - total[indptr[:-1]])
