"""The graph of a batch: which nodes routing takes place on, and the filter among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, get_args

import numpy as np

from ncgnn.batches.filter_rows import FilterRows, Rows
from ncgnn.nn import PreparedFilter

BatchRouting = Literal["exact", "local", "history"]
ROUTINGS: tuple[BatchRouting, ...] = get_args(BatchRouting)


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A graph of its own, with a filter of its own for each group of capsules.

    Attributes:
        nodes: of the whole graph, ascending [n].
        targets: places of the target nodes among them.
        routed: places of the nodes with a row of the filter; to the others, no message arrives.
        filters: of shape [n, n].
    """

    nodes: np.ndarray
    targets: np.ndarray
    routed: np.ndarray
    filters: list[PreparedFilter]


def neighbourhood(rows: Sequence[FilterRows], targets: np.ndarray, routing: BatchRouting, steps: int) -> Neighbourhood:
    r"""The graph of a batch of ascending ``targets``.

    An iteration of routing needs the class capsules of the neighbours from the iteration before.

    - ``exact``: all nodes that ``steps`` iterations reach. Nodes at the rim have no rows, so their capsules are wrong
      after the first iteration, those of their neighbours after the second, and those of the targets never.
    - ``local``: targets and their neighbours, with the entries of the filter among them.
    - ``history``: targets and their neighbours, with rows for the targets only. The couplings of the others have to be
      remembered.
    """
    nodes, inner = _reached(rows, targets, steps if routing == "exact" else 1)
    routed = nodes if routing == "local" else inner
    return Neighbourhood(
        nodes=nodes,
        targets=np.searchsorted(nodes, targets),
        routed=np.searchsorted(nodes, routed),
        filters=[one.prepared(_among(nodes, routed, one.of(routed)), len(nodes)) for one in rows],
    )


def _reached(rows: Sequence[FilterRows], targets: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """All nodes within ``steps`` steps of the filter, and those within one step less."""
    inner, nodes, front = targets, targets, targets
    for _ in range(steps):
        inner = nodes
        nodes = reduce(np.union1d, [one.of(front).columns for one in rows], inner)
        front = np.setdiff1d(nodes, inner, assume_unique=True)
    return nodes, inner


def _among(nodes: np.ndarray, routed: np.ndarray, rows: Rows) -> Rows:
    """A matrix [n, n] with the given rows of the ``routed`` nodes, and empty ones for the others."""
    kept = rows.within(nodes)
    counts = np.zeros(len(nodes), kept.counts.dtype)
    counts[np.searchsorted(nodes, routed)] = kept.counts
    return Rows(counts, kept.columns, kept.values)
