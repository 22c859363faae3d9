"""What to keep of a filter matrix: the entries above a threshold, or the largest of each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ncgnn.sparse import kernels

# Values that are equal on paper differ by rounding, and how depends on the numbering of the nodes.
_TIE = 1 - 1e-9


@dataclass(frozen=True)
class TopK:
    """Keep the ``k`` largest entries of each row, and every entry equal to the k-th, so that relabelling the nodes
    changes nothing."""

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"TopK keeps at least one entry a row, not {self.k}")

    def __call__(self, matrix: Any) -> Any:
        limits = np.empty(matrix.shape[0])
        kernels.kth_largest(matrix.shape[0], self.k, matrix.indptr, matrix.data, limits)
        return _keep(matrix, matrix.data >= np.repeat(limits * _TIE, np.diff(matrix.indptr)))


@dataclass(frozen=True)
class Threshold:
    """Keep the entries of at least ``epsilon``."""

    epsilon: float

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise ValueError(f"Threshold needs a positive epsilon, not {self.epsilon}")

    def __call__(self, matrix: Any) -> Any:
        return _keep(matrix, matrix.data >= self.epsilon * _TIE)


Sparsify = TopK | Threshold


def normalize(matrix: Any) -> Any:
    """Symmetric normalisation with the matrix's row sums on both sides; an empty row stays empty."""
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.zeros_like(sums)
    np.divide(1, np.sqrt(sums), out=scale, where=sums > 0)
    diagonal = sp.diags_array(scale)
    return sp.csr_matrix(diagonal @ matrix @ diagonal)


def _keep(matrix: Any, kept: Any) -> Any:
    ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return sp.csr_matrix((matrix.data[kept], matrix.indices[kept], ends), shape=matrix.shape)
