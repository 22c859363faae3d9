"""What each target hears: the entries of its rows of the filters, and the contribution of each node."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ncgnn.explain.targets import Targets
from ncgnn.explain.trace import Trace
from ncgnn.sparse import CSR, mean_entries, sparse_rows
from ncgnn.sparse.kernels import Array, by_rows
from ncgnn.sparse.sparsify import kth_largest

BATCH_ENTRIES = 1 << 20
"""Entries of rows of the filter that are in memory at a time, which limits the number of targets in a batch."""


@dataclass(frozen=True, eq=False)
class Heard:
    """Contributions of nodes, over all groups, to each of n targets.

    Attributes:
        entries: compressed rows with the contribution of each node that is heard [n, N].
        weights: the rows of the filter of each group [n, N].
    """

    entries: CSR
    weights: Sequence[CSR]

    @property
    def total(self) -> Tensor:
        """The sum of each target's contributions [n]."""
        return self._sum(self.entries.values)

    @property
    def magnitude(self) -> Tensor:
        """The sum of their magnitudes [n]."""
        return self._sum(self.entries.values.abs())

    def largest(self, top: int, without: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Nodes and values of the largest contributions by magnitude [n, top], zeros where a target has fewer. Node
        ``without[i]`` is left out for target i."""
        pattern, values = self.entries.pattern, self.entries.values
        size = values.abs()
        if without is not None:
            counts = pattern.indptr.diff().long()
            size[pattern.indices == torch.repeat_interleave(without, counts)] = -1
        width = min(top, int(pattern.indptr.diff().max()))
        places = np.full((pattern.num_rows, width), -1)
        _largest(pattern.num_rows, pattern.indptr.numpy(), size.numpy(), places, work=len(size))
        found = torch.from_numpy(places)
        value = torch.where(found < 0, 0, values[found])
        order = value.abs().argsort(dim=1, descending=True, stable=True)
        index = torch.where(found < 0, 0, pattern.indices[found].long())
        return index.gather(1, order), value.gather(1, order)

    @property
    def of_nodes(self) -> Tensor:
        """The contribution of each node, summed over the targets [N]."""
        found = self.entries.values.new_zeros(self.entries.shape[1])
        return found.index_add(0, self.entries.pattern.indices, self.entries.values)

    def of(self, nodes: Tensor) -> Tensor:
        """The contribution of one node to each target [n]."""
        return looked_up(self.entries, nodes[:, None])[:, 0]

    def _sum(self, values: Tensor) -> Tensor:
        ends = torch.cat([torch.zeros(1, dtype=torch.float64), values.double().cumsum(0)])[self.entries.pattern.indptr]
        return ends.diff().to(values)


def filter_rows(trace: Trace, nodes: Tensor) -> list[CSR]:
    """The rows of the filter of each group."""
    return [sparse_rows(group.a_bar, nodes) for group in trace.groups]


@torch.no_grad()
def heard(trace: Trace, targets: Targets, weights: Sequence[CSR] | None = None) -> Heard:
    """What a batch of targets hears; ``weights`` are their rows of the filters, if they are known."""
    weights = filter_rows(trace, targets.nodes) if weights is None else weights
    parts = [_projected(row, said, targets) for row, said in zip(weights, trace.messages, strict=True)]
    return Heard(parts[0] if len(parts) == 1 else _added(parts), weights)


def batches(trace: Trace, targets: Targets) -> Iterator[slice]:
    """Batches of targets whose rows fit into memory."""
    entries = sum(mean_entries(group.a_bar) for group in trace.groups)
    size = max(1, int(BATCH_ENTRIES / max(1.0, entries)))
    yield from (slice(start, start + size) for start in range(0, len(targets), size))


def looked_up(rows: CSR, columns: Tensor) -> Tensor:
    """The entries in some columns of each row [n, m], zero where there is none."""
    found = rows.values.new_zeros(columns.shape)
    arrays = rows.pattern.indptr.numpy(), rows.pattern.indices.numpy(), rows.values.numpy()
    order = columns.argsort(dim=1)
    _look_up(len(columns), *arrays, columns.gather(1, order).numpy(), order.numpy(), found.numpy(), work=len(arrays[2]))
    return found


def _projected(row: CSR, said: Tensor, targets: Targets) -> CSR:
    """Entries of the filter times what their nodes say along the direction of the target."""
    out = torch.empty_like(row.values)
    arrays = (row.pattern.indptr, row.pattern.indices, row.values, said, targets.classes, targets.direction, out)
    work = out.numel() * targets.direction[:1].numel()
    _project(len(targets), *(array.detach().contiguous().numpy() for array in arrays), work=work)
    return CSR(row.pattern, out)


def _added(parts: Sequence[CSR]) -> CSR:
    """Over groups, whose filters reach different nodes."""
    arrays = [(part.values.numpy(), part.pattern.indices.numpy(), part.pattern.indptr.numpy()) for part in parts]
    matrices = [sp.csr_matrix(array, shape=part.shape) for array, part in zip(arrays, parts, strict=True)]
    return CSR.from_scipy(reduce(add, matrices), parts[0].values.dtype)


@by_rows
def _project(
    start: int,
    stop: int,
    indptr: Array,
    indices: Array,
    weights: Array,
    said: Array,
    classes: Array,
    direction: Array,
    out: Array,
) -> None:
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            total = direction[i, 0, 0] * 0
            for m in range(classes.shape[1]):
                message, along = said[indices[e], classes[i, m]], direction[i, m]
                for f in range(along.shape[0]):
                    total += message[f] * along[f]
            out[e] = weights[e] * total


@by_rows
def _largest(start: int, stop: int, indptr: Array, size: Array, places: Array) -> None:
    """Places of the largest entries of each row that are not negative, in any order; of equal ones the first."""
    k = places.shape[1]
    for i in range(start, stop):
        row = size[indptr[i] : indptr[i + 1]]
        limit = kth_largest(row, k) if row.shape[0] > k else -1.0
        found = 0
        for e in range(row.shape[0]):
            if row[e] > limit and row[e] >= 0:
                places[i, found] = indptr[i] + e
                found += 1
        for e in range(row.shape[0]):
            if found < k and row[e] == limit and limit >= 0:
                places[i, found] = indptr[i] + e
                found += 1


@by_rows
def _look_up(
    start: int, stop: int, indptr: Array, indices: Array, values: Array, columns: Array, order: Array, out: Array
) -> None:
    """``out[i, order[i, m]] = A[i, columns[i, m]]`` for ascending columns, of which some may be equal."""
    for i in range(start, stop):
        wanted = columns[i]
        for e in range(indptr[i], indptr[i + 1]):
            low, high = 0, wanted.shape[0]
            while low < high:
                middle = (low + high) // 2
                if wanted[middle] < indices[e]:
                    low = middle + 1
                else:
                    high = middle
            while low < wanted.shape[0] and wanted[low] == indices[e]:
                out[i, order[i, low]] = values[e]
                low += 1
