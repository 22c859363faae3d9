"""Find duplicate nodes."""

import numpy as np

from ncgnn.check.finding import SHOWN, Finding, Level
from ncgnn.check.fingerprints import groups, neighbour_fingerprints, row_fingerprints
from ncgnn.check.view import View
from ncgnn.text import several

ENOUGH_NEIGHBOURS = 3  # leaves of one hub share their neighbour without being copies; sharing three is no coincidence
SERIOUS, WORTH_A_WARNING = 0.05, 0.01  # fractions of the test nodes
SEVERAL = 10


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


def duplicate_findings(view: View) -> list[Finding]:
    numbers = duplicate_groups(view)
    is_copy = (np.bincount(numbers)[numbers] > 1) & (view.degree > 0)
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
