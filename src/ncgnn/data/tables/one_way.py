"""Whether the rows of an edge table look like links with a direction."""

import re

import numpy as np

from ncgnn.data.graph import merge_edges

_MOST = 0.9  # of the links have no link back
_NAMES = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("origin", "destination"),
    ("payer", "payee"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("buyer", "seller"),
    ("caller", "callee"),
    ("citing", "cited"),
    ("follower", "followed"),
    ("follower", "followee"),
    ("parent", "child"),
)


def go_one_way(pairs: np.ndarray, num_nodes: int, undirected: int, ends: tuple[str, str]) -> bool:
    """Whether the names of both end columns suggest a direction and at least 90 % of the links have no link back.

    ``undirected`` is the number of edges if the two directions of an edge are merged.
    """
    if not _suggest_direction(ends):
        return False
    directed = len(merge_edges(pairs, num_nodes, is_directed=True)[0])
    return directed > 0 and 2 * undirected - directed >= _MOST * directed


def _suggest_direction(ends: tuple[str, str]) -> bool:
    first, second = (_words(name) for name in ends)
    return any((a in first and b in second) or (b in first and a in second) for a, b in _NAMES)


def _words(name: str) -> set[str]:
    """``{"source", "id"}`` of ``source_id``, ``sourceId`` and ``SOURCE ID``."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
