"""Find duplicate nodes: equal rows and equal neighbourhoods have equal fingerprints, 64-bit sums of random numbers."""

import numpy as np
import scipy.sparse as sp

from ncgnn.check.view import SHOWN, Finding, Level, View
from ncgnn.text import several

ENOUGH_NEIGHBOURS = 3  # leaves of one hub share their neighbour without being copies; sharing three is no coincidence
SERIOUS, WORTH_A_WARNING = 0.05, 0.01  # fractions of the test nodes
SEVERAL = 10
_ENTRIES = 4_000_000  # at a time: each needs about 50 bytes
_ODD = np.uint64(0x9E3779B97F4A7C15)


def duplicate_groups(view: View) -> np.ndarray:
    """The index of each node's group of copies; a node without a copy is alone in its group.

    Copies have the same neighbours and the same features. With three or more neighbours the features may differ: the
    copies in well-known graphs differ in a few words. Copies that are linked to each other have the same neighbours
    if each counts itself; this is also true for the members of a clique, so these must always have the same features.
    """
    features = row_fingerprints(view.x)
    told_by_neighbours = view.degree >= ENOUGH_NEIGHBOURS
    apart = groups(neighbour_fingerprints(view.adjacency, closed=False), np.where(told_by_neighbours, 0, features))
    linked = groups(neighbour_fingerprints(view.adjacency, closed=True), features)
    is_linked = np.bincount(linked)[linked] > 1
    numbers: np.ndarray = np.unique(np.where(is_linked, linked + len(apart), apart), return_inverse=True)[1]
    return numbers


def copied_test_nodes(view: View) -> np.ndarray:
    """Test nodes with a copy among the training or validation nodes, if they are enough for a warning."""
    numbers = duplicate_groups(view)
    leaking = _leaking(view, numbers, _copies(view, numbers))
    return leaking if _level(view, len(leaking)) != "note" else leaking[:0]


def _copies(view: View, numbers: np.ndarray) -> np.ndarray:
    is_copy: np.ndarray = (np.bincount(numbers)[numbers] > 1) & (view.degree > 0)
    return is_copy


def duplicate_findings(view: View) -> list[Finding]:
    numbers = duplicate_groups(view)
    is_copy = _copies(view, numbers)
    if not is_copy.any():
        return []
    leaking = _leaking(view, numbers, is_copy)
    return [
        Finding(
            name="duplicates",
            level=_level(view, len(leaking)),
            what=f"{several(int(is_copy.sum()), 'node')} with exactly the same neighbours as another node"
            + _across(view, len(leaking)),
            count=int(is_copy.sum()),
            first=_pairs(view, numbers, leaking if len(leaking) else np.flatnonzero(is_copy)),
            why="the model can look up the label of a test node from its copy, but new nodes have no copies",
            advice="keep one node per group and split again, or assign each group to a single part of the split",
        )
    ]


def _level(view: View, leaking: int) -> Level:
    share = leaking / max(1, int(view.members("test").sum())) if view.is_split else 0.0
    if leaking < SEVERAL or share < WORTH_A_WARNING:
        return "note"
    return "serious" if share >= SERIOUS else "warning"


def _across(view: View, leaking: int) -> str:
    tested = several(int(view.members("test").sum()), "test node") if view.is_split else ""
    return f"; {leaking} of {tested} have such a copy in training or validation" if view.is_split else ""


def _leaking(view: View, numbers: np.ndarray, is_copy: np.ndarray) -> np.ndarray:
    """Test nodes with a copy among the training or validation nodes."""
    if not view.is_split:
        return np.zeros(0, np.int64)
    seen = view.members("train") | view.members("val")
    has_seen = np.bincount(numbers, weights=seen) > 0
    return np.flatnonzero(view.members("test") & is_copy & has_seen[numbers])


def _pairs(view: View, numbers: np.ndarray, nodes: np.ndarray) -> list[str]:
    """The first nodes, each with one of its copies, if possible one that is not a test node."""
    preferred = ~view.members("test") if view.is_split else np.ones(view.num_nodes, bool)
    pairs = []
    for node in nodes[:SHOWN]:
        copies = np.flatnonzero(numbers == numbers[node])
        copies = copies[copies != node]
        other = copies[np.argmax(preferred[copies])]
        pairs.append(" = ".join(view.ids([node, other])))
    return pairs


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
