"""Dropout on the entries of a matrix."""

import torch

from ncgnn.sparse.csr import CSR
from ncgnn.sparse.operator import Dense, LinearOperator


def thinned(x: LinearOperator, rate: float) -> LinearOperator:
    """Features after dropout; a sparse matrix keeps its pattern, and with it the cached transpose."""
    values = x.parameter
    # comparing uniform numbers costs a quarter of torch's dropout, which is most of a step on ten million entries
    kept = values * (torch.rand_like(values) >= rate) / (1 - rate)
    return CSR(x.pattern, kept) if isinstance(x, CSR) else Dense(kept)
