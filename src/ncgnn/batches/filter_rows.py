"""Rows of a graph filter in files: made in chunks and read for the nodes of a batch, never held as a whole."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ncgnn.batches.scratch import scratch
from ncgnn.batches.shards import Shards
from ncgnn.batches.written import SHARD_ROWS, write_shards
from ncgnn.nn import GraphFilter, PreparedFilter
from ncgnn.sparse import HopBank, LinearOperator, Pattern


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of the matrices of a filter, on one common pattern: ``counts`` [n] entries per row, their ``columns``
    [nnz] and ``values`` [matrices, nnz]."""

    counts: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def within(self, nodes: np.ndarray) -> "Rows":
        """The entries whose columns are among the ascending ``nodes``, renumbered to their places there."""
        places = np.searchsorted(nodes, self.columns)
        places[places == len(nodes)] = 0
        kept = nodes[places] == self.columns
        before = np.concatenate([[0], np.cumsum(kept)])
        ends = np.cumsum(self.counts)
        counts = before[ends] - before[ends - self.counts]
        return Rows(counts, places[kept], self.values[:, kept])

    def pattern(self, num_columns: int) -> Pattern:
        indptr = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int32)
        return Pattern(torch.from_numpy(indptr), torch.from_numpy(self.columns.astype(np.int32)), num_columns)


class FilterRows:
    """The rows of a filter for one graph, from files that :func:`stored_rows` wrote.

    Args:
        filter: whose rows they are.
        shards: the files.
    """

    def __init__(self, filter: GraphFilter, shards: Shards) -> None:
        self.filter, self._shards = filter, shards
        self._scale = self._inverse_roots() if filter.sparsify is not None else None

    @property
    def num_nodes(self) -> int:
        return self._shards.rows

    def of(self, nodes: np.ndarray) -> Rows:
        """The rows of ascending ``nodes``, renormalised."""
        parts, start = [], 0
        while start < len(nodes):
            number = self._shards.shard_of(int(nodes[start]))
            first, arrays = self._shards.firsts[number], self._shards.arrays(number)
            stop = int(np.searchsorted(nodes, first + len(arrays["indptr"]) - 1))
            parts.append(_taken(arrays, nodes[start:stop] - first))
            start = stop
        if not parts:
            parts = [_taken(self._shards.arrays(0), nodes)]
        counts, columns, values = (np.concatenate(found, axis=-1) for found in zip(*parts, strict=True))
        if self._scale is not None:
            values = values * np.repeat(self._scale[:, nodes], counts, axis=1) * self._scale[:, columns]
        return Rows(counts, columns, values)

    def prepared(self, rows: Rows, num_columns: int) -> PreparedFilter:
        """The filter of a graph with these rows: that of a batch, or rows of the whole."""
        values = torch.from_numpy(rows.values).to(torch.get_default_dtype())
        return self.filter.of_rows(rows.pattern(num_columns), values)

    def operator(self, filter: GraphFilter, nodes: np.ndarray) -> LinearOperator:
        """The rows of ascending ``nodes`` as an operator [n, N], with the coefficients of ``filter``."""
        found: LinearOperator = filter(self.prepared(self.of(nodes), self.num_nodes))
        return found

    def _inverse_roots(self) -> np.ndarray:
        """For the symmetric normalisation; an empty row stays empty. In a file, as there is one for each node."""
        sums = [self._shards.arrays(number)["sums"] for number in range(len(self._shards.firsts))]
        scale = scratch(self._shards.folder, len(sums[0]), self.num_nodes, dtype=torch.float64).numpy()
        for first, part in zip(self._shards.firsts, sums, strict=True):
            own = scale[:, first : first + part.shape[1]]
            np.divide(1, np.sqrt(part), out=own, where=part > 0)
        return scale


def stored_rows(
    filter: GraphFilter, adjacency: Callable[[], Any], num_nodes: int, folder: Path, key: str, size: int = SHARD_ROWS
) -> FilterRows:
    """The rows of a filter, written to ``folder`` if they are not there: chunk by chunk, so that beyond the graph, this
    takes no memory that grows with the number of nodes.

    Args:
        filter: whose rows to write. Without ``sparsify`` there may be very many entries.
        adjacency: gives the normalised adjacency matrix.
        num_nodes: of the graph.
        folder: where to.
        key: names the graph and all else that the rows depend on.
        size: rows per shard.
    """
    made: list[Callable[[range], list[Any]]] = []

    def make(part: range) -> dict[str, np.ndarray]:
        if not made:  # not where all are there
            made.append(filter.rows(adjacency()))
        return _arrays(made[0](part))

    write_shards(folder, key, num_nodes, make, size)
    return FilterRows(filter, Shards(folder, key))


def _arrays(matrices: list[Any]) -> dict[str, np.ndarray]:
    bank = HopBank.from_scipy(matrices, torch.float32)
    sums = np.stack([np.asarray(matrix.sum(axis=1), np.float64).ravel() for matrix in matrices])
    return {
        "indptr": bank.pattern.indptr.numpy().astype(np.int64),
        "columns": bank.pattern.indices.numpy().astype(np.int32),
        "values": bank.values.numpy(),
        "sums": sums,
    }


def _taken(arrays: dict[str, np.ndarray], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    counts, places = _entries(arrays["indptr"], rows)
    return counts, arrays["columns"][places], arrays["values"][:, places]


def _entries(indptr: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of entries of some rows of a compressed matrix, and the places of all these entries."""
    starts = indptr[rows]
    counts = indptr[rows + 1] - starts
    before = np.cumsum(counts) - counts
    return counts, np.repeat(starts - before, counts) + np.arange(counts.sum())
