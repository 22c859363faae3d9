"""Disk cache of sparsified filters, by graph and settings; loading takes a fraction of the preparation time."""

import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.named.download import cache_folder
from ncgnn.models.base.cached import checksum, read_cached, write_cached
from ncgnn.nn import GraphFilter, PreparedFilter
from ncgnn.sparse import CSR, HopBank, Pattern

LARGEST_FOLDER = 2 * 10**9
"""Maximum size of the folder in bytes; the least recently used filters are removed first."""

_ARRAYS = ("indptr", "indices", "values")
_FORMAT = "ncgnn-filter-3"  # increase when the file format changes


def filter_folder() -> Path | None:
    """The cache folder: in NCGNN_CACHE, by default ``~/.cache/ncgnn``; None if NCGNN_CACHE is empty."""
    if os.environ.get("NCGNN_CACHE", "somewhere").strip() == "":
        return None
    try:
        return cache_folder() / "filters"
    except RuntimeError:  # a user without a home
        return None


def prepare_filter(filter: GraphFilter, data: Data, dtype: torch.dtype, folder: Path | None) -> PreparedFilter:
    """The prepared filter of this graph, from the cache if possible; cached filters are bit-identical.

    Only sparsified filters are cached: the others are either implicit, which are as fast to prepare as to load, or as
    large as N x N.
    """
    edges, weight = data.edge_index, data.get("edge_weight")
    if folder is None or filter.sparsify is None:
        return filter.prepare(edges, data.num_nodes, weight, dtype)
    key = f"{_FORMAT} {sources()} {filter.cache_key} {dtype} {data.num_nodes} {digest_of_edges(edges, weight)}"
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"
    prepared = _read(path, key, filter, data.num_nodes, dtype)
    if prepared is None:
        prepared = filter.prepare(edges, data.num_nodes, weight, dtype)
        _store(path, key, prepared)
    return prepared.to(edges.device, dtype)


@cache
def sources() -> str:
    """A hash of the code that prepares filters, because another version may give other numbers."""
    digest = hashlib.sha256()
    for package in ("ncgnn.nn", "ncgnn.sparse"):
        for file in sorted(Path(str(resources.files(package))).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def digest_of_edges(edges: Tensor, weight: Tensor | None) -> str:
    """A hash of the edges in their order, because floating-point sums depend on it."""
    return checksum(part.detach().cpu().numpy() for part in ((edges,) if weight is None else (edges, weight)))


def _read(path: Path, key: str, filter: GraphFilter, num_nodes: int, dtype: torch.dtype) -> PreparedFilter | None:
    arrays = read_cached(path, key, _ARRAYS, lambda arrays: _check(arrays, num_nodes, dtype))
    if arrays is None:
        return None
    indptr, indices, values = map(torch.from_numpy, arrays)
    matrix = (HopBank if values.dim() == 2 else CSR)(Pattern(indptr, indices, num_nodes), values)
    return PreparedFilter(matrix, False, num_nodes, filter.cache_key)


def _check(arrays: list[np.ndarray], num_nodes: int, dtype: torch.dtype) -> None:
    """:class:`ValueError` unless these are the arrays of a sparse matrix: the kernels read what they point to."""
    indptr, indices, values = arrays
    whole = indptr.dtype == indices.dtype and indptr.dtype in (np.int32, np.int64)
    if not whole or torch.from_numpy(values).dtype != dtype:
        raise ValueError("its numbers have the wrong type")
    if indptr.shape != (num_nodes + 1,) or indices.ndim != 1 or values.shape[-1:] != indices.shape or values.ndim > 2:
        raise ValueError("its arrays have the wrong shape")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ValueError("its rows have the wrong length")
    if len(indices) and (indices.min() < 0 or indices.max() >= num_nodes):
        raise ValueError("it names nodes that the graph does not have")
    if not np.isfinite(values).all():
        raise ValueError("it has values that are not finite")


def _store(path: Path, key: str, prepared: PreparedFilter) -> None:
    matrix = prepared.matrix
    assert isinstance(matrix, CSR | HopBank)  # a sparsified filter is
    tensors = (matrix.pattern.indptr, matrix.pattern.indices, matrix.values)
    arrays = [tensor.detach().cpu().numpy() for tensor in tensors]
    if sum(array.nbytes for array in arrays) > LARGEST_FOLDER:
        return
    write_cached(path, key, dict(zip(_ARRAYS, arrays, strict=True)))
    with suppress(OSError):  # the folder may be read-only
        _remove_oldest(path.parent)


def _remove_oldest(folder: Path) -> None:
    """Shrink the cache to the maximum size."""
    found = []
    for path in folder.glob("[!.]*"):
        with suppress(FileNotFoundError):  # another process removes as well
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > LARGEST_FOLDER:
            path.unlink(missing_ok=True)
