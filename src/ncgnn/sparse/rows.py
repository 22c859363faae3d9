"""Single rows of an operator, entry by entry: the work is that of their entries, not of all nodes."""

import numpy as np
import torch
from torch import Tensor

from ncgnn.sparse.chain import multiply
from ncgnn.sparse.csr import CSR, Pattern
from ncgnn.sparse.kernels import Array, compiled, grown, in_chunks, num_threads
from ncgnn.sparse.operator import LinearOperator
from ncgnn.sparse.polynomial import Polynomial

_SAMPLE = 64


@torch.no_grad()
def sparse_rows(operator: LinearOperator, nodes: Tensor) -> CSR:
    """The rows of some nodes [n, columns], in no particular order of their columns. An operator that is neither a
    matrix nor a polynomial in one, such as exact PageRank, has full rows."""
    if isinstance(operator, CSR):
        return operator.take(nodes)
    if isinstance(operator, Polynomial):
        return _of_polynomial(operator, nodes)
    dense = dense_rows(operator, nodes).t().contiguous()
    number, columns = dense.shape
    indptr = torch.arange(number + 1) * columns
    return CSR(Pattern(indptr, torch.arange(columns).repeat(number), columns), dense.flatten())


def dense_rows(operator: LinearOperator, nodes: Tensor) -> Tensor:
    """The rows of some nodes, as columns [columns, n]."""
    one_hot = operator.parameter.new_zeros(operator.shape[0], len(nodes))
    one_hot[nodes, torch.arange(len(nodes))] = 1
    return operator.gradients(one_hot, one_hot, False)[1]


def mean_entries(operator: LinearOperator) -> float:
    """Entries of a row, on average over some of them."""
    if isinstance(operator, CSR):
        return float(operator.values.numel() / max(1, operator.shape[0]))
    if isinstance(operator, Polynomial):
        some = torch.linspace(0, operator.shape[0] - 1, min(_SAMPLE, operator.shape[0])).long()
        return float(_of_polynomial(operator, some).values.numel() / max(1, len(some)))
    return float(operator.shape[1])


def _of_polynomial(operator: Polynomial, nodes: Tensor) -> CSR:
    """Each row by Horner's scheme, summed in double precision."""
    xi = np.ascontiguousarray(operator.coefficients.detach().double().numpy()[::-1])
    pattern, values = operator.base.pattern, operator.base.values.detach().numpy()
    arrays = pattern.indptr.numpy(), pattern.indices.numpy(), values, xi
    chosen = nodes.numpy()
    parts = in_chunks(num_threads(), len(chosen), lambda start, stop: _horner(chosen[start:stop], *arrays))
    counts, columns, found = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    indptr = torch.from_numpy(np.concatenate([[0], np.cumsum(counts)]))
    return CSR(Pattern(indptr, torch.from_numpy(columns), pattern.num_columns), torch.from_numpy(found))


@compiled
def _horner(chosen: Array, indptr: Array, indices: Array, data: Array, xi: Array) -> tuple[Array, Array, Array]:
    """Number of entries of each chosen row of ``sum_t xi[-1 - t] A^t``, and all their columns and values."""
    n = indptr.shape[0] - 1
    row, product, seen = np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    nodes, reached = np.empty(n, np.int32), np.empty(n, np.int32)
    counts = np.zeros(chosen.shape[0], np.int64)
    columns, values, filled = np.empty(n, np.int32), np.empty(n), 0
    for i in range(chosen.shape[0]):
        entries = 0
        for t in range(xi.shape[0]):
            entries = multiply(row, nodes[:entries], chosen[i], xi[t], indptr, indices, data, product, reached, seen)
            row, nodes, product, reached = product, reached, row, nodes
        while filled + entries > columns.shape[0]:
            columns, values = grown(columns, values)
        for j in range(entries):
            columns[filled + j], values[filled + j] = nodes[j], row[nodes[j]]
            row[nodes[j]] = 0
        filled, counts[i] = filled + entries, entries
    return counts, columns[:filled].copy(), values[:filled].astype(data.dtype)
