"""The adjacency matrix without a filter: who a node's neighbours are, and how much each counts."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from torch_geometric.data import Data

from ncgnn.sparse import normalize

Scale = Literal["degrees", "ends", "rows"]


def plain_adjacency(data: Data) -> sp.csr_array:
    """The adjacency matrix [N, N] without self-loops and without normalisation; row i lists the sources of edges that
    point to i. Entries are edge weights, or ones; repeated edges add up."""
    source, target = data.edge_index.cpu().numpy()
    given = data.get("edge_weight")
    weight = np.ones(source.size) if given is None else given.detach().cpu().numpy().astype(np.float64)
    between = source != target
    entries = (weight[between], (target[between], source[between]))
    a = sp.coo_array(entries, shape=(data.num_nodes, data.num_nodes)).tocsr()
    a.eliminate_zeros()
    return a


def scaled_adjacency(data: Data, scale: Scale, has_loops: bool) -> Any:
    r"""The adjacency matrix [N, N], with self-loops if asked for, divided by degrees.

    Args:
        data: the graph.
        scale: ``rows``: :math:`\mathbf{D}^{-1} \mathbf{A}`, the mean over neighbours; ``degrees``:
            :math:`\mathbf{D}^{-1/2} \mathbf{A} \mathbf{D}^{-1/2}`, with the row sums :math:`\mathbf{D}`; ``ends``: the
            same with column sums on the right, which differs if edges have a direction.
        has_loops: whether a node is its own neighbour.
    """
    a = plain_adjacency(data)
    return _SCALED[scale](sp.csr_matrix(a + sp.eye_array(a.shape[0]) if has_loops else a))


def _by_rows(a: Any) -> Any:
    return sp.diags(_power(a.sum(axis=1), -1)) @ a


def _by_ends(a: Any) -> Any:
    return sp.diags(_power(a.sum(axis=1), -0.5)) @ a @ sp.diags(_power(a.sum(axis=0), -0.5))


def _power(sums: Any, exponent: float) -> np.ndarray:
    """Powers of the sums; zeros stay zeros."""
    values = np.asarray(sums, dtype=np.float64).ravel()
    return np.power(values, exponent, out=np.zeros_like(values), where=values > 0)


_SCALED: dict[Scale, Callable[[Any], Any]] = {"degrees": normalize, "ends": _by_ends, "rows": _by_rows}
