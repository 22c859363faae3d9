"""Build graphs: features, undirected edges, labels and names as PyG ``Data``."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

KEPT_SPARSE_BELOW = 0.1  # fraction of nonzeros for storage; products choose their own format
PARTS = ("train", "val", "test")  # of a split
SPLITS = tuple(f"{part}_mask" for part in PARTS)
LEAST_WEIGHT, MOST_WEIGHT = 1e-30, 1e30  # of an edge: products of float32 weights must stay finite


def make_graph(
    name: str,
    x: Tensor,
    edge_index: Tensor,
    y: Tensor,
    *,
    edge_weight: Tensor | None = None,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    node_ids: Sequence[str] | None = None,
    node_titles: Sequence[str] | None = None,
    **extra: Any,
) -> Data:
    """A ``Data`` with the attributes of every graph in this library; missing names become "0", "1", ..."""
    data = Data(x=x, edge_index=edge_index, y=y, num_nodes=x.shape[0], name=name)
    if edge_weight is not None:
        data.edge_weight = edge_weight
    data.class_names = _names(class_names, int(y.max()) + 1 if len(y) else 0)
    data.feature_names = _names(feature_names, x.shape[1])
    data.node_ids = _names(node_ids, x.shape[0])
    if node_titles is not None:
        data.node_titles = _names(node_titles, x.shape[0])
    for key, value in extra.items():
        setattr(data, key, value)
    return data


def feature_tensor(x: sp.spmatrix | sp.sparray | np.ndarray) -> Tensor:
    """Features as float32: ``torch.sparse_csr`` if fewer than a tenth of the entries are nonzero, else dense."""
    if isinstance(x, np.ndarray) and np.count_nonzero(x) >= KEPT_SPARSE_BELOW * x.size:
        return torch.from_numpy(x.astype(np.float32, copy=False))
    matrix = sp.csr_array(x, dtype=np.float32)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    is_sparse = matrix.nnz < KEPT_SPARSE_BELOW * np.prod(matrix.shape)
    return _csr(matrix) if is_sparse else torch.from_numpy(matrix.toarray())


def feature_matrix(x: Tensor) -> sp.csr_array:
    """The scipy CSR matrix of a feature tensor, dense or sparse."""
    if x.layout is torch.strided:
        return sp.csr_array(x.numpy().astype(np.float32, copy=False))
    x = x.to_sparse_csr()
    parts = (x.values().float().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    return sp.csr_array(parts, shape=tuple(x.shape))


def merge_edges(
    pairs: np.ndarray, num_nodes: int, weight: np.ndarray | None = None, *, is_directed: bool = False
) -> tuple[np.ndarray, np.ndarray | None]:
    """Undirected edges of ``pairs`` (E, 2) as sorted rows (smaller, larger), each once; directed ones as sorted rows
    (source, target).

    Self-loops are dropped; weights of repeated edges are summed, and unless ``is_directed``, those of both directions.
    """
    keep = pairs[:, 0] != pairs[:, 1]
    ends = pairs[keep].astype(np.int64)
    if not is_directed:
        ends = np.stack([ends.min(axis=1), ends.max(axis=1)], axis=1)
    keys = ends[:, 0] * num_nodes + ends[:, 1]
    del ends
    if weight is None:
        keys.sort()
        return _pairs(keys[np.diff(keys, prepend=-1) > 0], num_nodes), None
    unique, inverse = np.unique(keys, return_inverse=True)
    edges = _pairs(unique, num_nodes)
    summed = np.bincount(inverse, weights=np.asarray(weight, np.float64)[keep], minlength=len(unique))
    return edges, summed.astype(np.float32)


def both_directions(edges: np.ndarray, weight: np.ndarray | None = None) -> tuple[Tensor, Tensor | None]:
    """PyG's ``edge_index`` (sorted, both directions) and edge weights of the rows that :func:`merge_edges` returns."""
    base = int(edges.max(initial=0)) + 1
    keys = np.concatenate([edges[:, 0] * base + edges[:, 1], edges[:, 1] * base + edges[:, 0]])
    if weight is None:
        keys.sort()
        return torch.from_numpy(np.stack(np.divmod(keys, base))), None
    order = np.argsort(keys)
    edge_index = torch.from_numpy(np.stack(np.divmod(keys[order], base)))
    return edge_index, torch.from_numpy(np.tile(weight, 2)[order].astype(np.float32))


def _pairs(keys: np.ndarray, num_nodes: int) -> np.ndarray:
    """Rows (first, second) of the keys ``first * num_nodes + second``."""
    return np.stack(np.divmod(keys, max(num_nodes, 1)), axis=1)


def num_classes(data: Data) -> int:
    """Number of classes: the number of class names if there are any, else the largest label plus one."""
    if "class_names" in data:
        return len(data.class_names)
    return int(data.y.max()) + 1 if data.y is not None and data.y.numel() else 0


def _names(given: Sequence[str] | None, count: int) -> list[str]:
    return [str(i) for i in range(count)] if given is None else [str(name) for name in given]


def _csr(matrix: sp.csr_array) -> Tensor:
    with warnings.catch_warnings():  # torch says once that CSR is in beta
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data),
            size=matrix.shape,
        )
