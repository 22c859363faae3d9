"""The normalised adjacency matrix with self-loops, on which all filters are based."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ncgnn.sparse.sparsify import normalize


def normalized_adjacency(
    edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None, has_loops: bool = True
) -> Any:
    r""":math:`\tilde{\mathbf{A}} = \hat{\mathbf{D}}^{-1/2} (\mathbf{A} + \mathbf{I}) \hat{\mathbf{D}}^{-1/2}` as a
    SciPy matrix in float64.

    Row i lists the nodes that i receives messages from: the sources of edges that point to i. Self-loops in the edge
    list are dropped, since the formula adds one to each node (unless ``has_loops`` is False); repeated edges add up.
    """
    source, target = _checked(edge_index, num_nodes)
    weight = np.ones(source.size) if edge_weight is None else _checked_weight(edge_weight, source.size)
    between = source != target
    entries = (weight[between], (target[between], source[between]))
    adjacency = sp.coo_array(entries, shape=(num_nodes, num_nodes)).tocsr()
    return normalize(sp.csr_matrix(adjacency + sp.eye_array(num_nodes) if has_loops else adjacency))


def _checked(edge_index: Tensor, num_nodes: int) -> Any:
    if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"edge_index must be integers of shape [2, edges], not {tuple(edge_index.shape)}")
    ends = edge_index.cpu().numpy()
    if ends.size and (ends.min() < 0 or ends.max() >= num_nodes):
        wrong = ends.max() if ends.min() >= 0 else ends.min()
        raise ValueError(f"edge_index contains node {wrong}, but there are {num_nodes} nodes")
    return ends


def _checked_weight(edge_weight: Tensor, num_edges: int) -> Any:
    weight = edge_weight.detach().cpu().numpy().astype(np.float64)
    if weight.shape != (num_edges,):
        raise ValueError(f"edge_weight has shape {weight.shape} for {num_edges} edges")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("edge_weight must be finite and not negative")
    return weight
