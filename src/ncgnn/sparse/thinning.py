"""Dropout on the entries of a matrix."""

import torch
from torch import Tensor

from ncgnn.sparse import pool
from ncgnn.sparse.csr import CSR
from ncgnn.sparse.kernels import Array, by_rows
from ncgnn.sparse.operator import Dense, LinearOperator, is_fused


def thinned(x: LinearOperator, rate: float) -> LinearOperator:
    """Features after dropout; a sparse matrix keeps its pattern, and with it the cached transpose."""
    kept = _kept(x.parameter, rate)
    return CSR(x.pattern, kept) if isinstance(x, CSR) else Dense(kept)


def _kept(values: Tensor, rate: float) -> Tensor:
    """Uniform numbers decide, in their own memory: torch's dropout of ten million entries is most of a step."""
    if not is_fused(values):
        return values * (torch.rand_like(values) >= rate) / (1 - rate)
    out = torch.rand(values.shape, out=pool.empty(values, *values.shape))
    _keep(values.numel(), rate, values.contiguous().numpy().ravel(), out.numpy().ravel())
    return out.div_(1 - rate)


@by_rows
def _keep(start: int, stop: int, rate: float, values: Array, out: Array) -> None:
    least = out.dtype.type(rate)
    for i in range(start, stop):
        out[i] = values[i] * out.dtype.type(out[i] >= least)
