"""Preparation of filters, compared with PyTorch Geometric.

PageRank by pushing, ours as ``get_ppr``, leaves at each node u less than ``tolerance`` times its degree undelivered,
so equal tolerances mean equal bounds on the error. The error itself is measured on a sample of rows.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import GDC
from torch_geometric.utils import add_self_loops, get_ppr

from benchmarks.table import Row
from ncgnn.bench import hops_of, interleaved
from ncgnn.models.base.filter_cache import prepare_filter
from ncgnn.nn import AttentionFilter, DiffusionFilter
from ncgnn.nn.filter import GraphFilter
from ncgnn.sparse import TopK, normalized_adjacency, push_pagerank

ALPHA, K, TOLERANCE = 0.1, 128, 1e-4
_EXACT_UP_TO = 6000  # nodes; the dense inverses take memory and time beyond
_SAMPLE, _SAMPLE_ENTRIES = 50, 5_000_000  # rows, and entries of them all

Methods = dict[tuple[str, str], Callable[[], Any]]


def measure(data: Data, repeats: int, tell: Callable[[str], None], seconds: float = 60) -> list[Row]:
    """One row for each way to prepare a filter on this graph."""
    with TemporaryDirectory() as folder:
        small = exact(data, Path(folder)) if data.num_nodes <= _EXACT_UP_TO else {}
        return compare(data, attention(data, Path(folder)) | small | push(data), repeats, tell, seconds)


def compare(data: Data, methods: Methods, repeats: int, tell: Callable[[str], None], seconds: float) -> list[Row]:
    results: dict[tuple[str, str], Any] = {}

    def keep(key: tuple[str, str]) -> Callable[[], None]:
        return lambda: results.__setitem__(key, methods[key]())

    timings = interleaved({key: keep(key) for key in methods}, repeats, tell, seconds)
    graph = {"graph": data.name, "nodes": data.num_nodes, "edges": data.edge_index.shape[1] // 2}
    return [
        graph | {"filter": key[0], "by": key[1]} | outcome(data, *key, results[key]) | timings[key].row()
        for key in methods
    ]


def ours(name: str, filt: GraphFilter, data: Data, folder: Path) -> Methods:
    """The filter prepared, and loaded from where it was stored beforehand."""

    def load() -> Any:
        return prepare_filter(filt, data, torch.float32, folder)

    load()
    return {
        (name, "NCGNN"): lambda: filt.prepare(data.edge_index, data.num_nodes),
        (name, "NCGNN, from disk"): load,
    }


def attention(data: Data, folder: Path) -> Methods:
    hops = range(1, min(3, hops_of(data.name)) + 1)
    name = f"powers 1-{hops[-1]}, the {K} largest of each row"
    return ours(name, AttentionFilter(hops, sparsify=TopK(K)), data, folder)


def exact(data: Data, folder: Path) -> Methods:
    gdc = GDC(
        self_loop_weight=1,
        normalization_in="sym",
        normalization_out=None,
        diffusion_kwargs={"method": "ppr", "alpha": ALPHA},
        sparsification_kwargs={"method": "topk", "k": K, "dim": 1},
        exact=True,
    )
    name = f"PageRank by inversion, the {K} largest of each row"
    bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    filt = DiffusionFilter(ALPHA, sparsify=TopK(K))
    return ours(name, filt, data, folder) | {(name, "PyG GDC"): lambda: gdc(bare.clone())}


def push(data: Data) -> Methods:
    n = data.num_nodes
    loops, _ = add_self_loops(data.edge_index, num_nodes=n)
    name = f"PageRank by pushing, tolerance {TOLERANCE:g}"

    def by_us() -> Any:
        return push_pagerank(normalized_adjacency(data.edge_index, n), ALPHA, TopK(K), TOLERANCE)

    return {
        (f"{name}, the {K} largest of each row", "NCGNN"): by_us,
        (name, "PyG get_ppr"): lambda: get_ppr(loops, ALPHA, TOLERANCE, num_nodes=n),
    }


def outcome(data: Data, name: str, by: str, result: Any) -> Row:
    """How many entries the filter has; of PageRank by pushing, the bound on the error and the error."""
    if by == "PyG GDC":
        return {"entries": result.num_edges, "bound": "", "error": ""}
    if "pushing" not in name:
        return {"entries": result.matrix.pattern.indices.numel(), "bound": "", "error": ""}
    is_cut = by == "NCGNN"
    matrix = result if is_cut else as_symmetric(data, *result)
    return {"entries": matrix.nnz, "bound": TOLERANCE, "error": f"{error(data, matrix, is_cut):.2g}"}


def as_symmetric(data: Data, edge_index: torch.Tensor, weight: torch.Tensor) -> Any:
    """PageRank of the random walk as that of the symmetric matrix."""
    n = data.num_nodes
    root = np.sqrt(degrees(data))
    (row, column), values = edge_index.numpy(), weight.double().numpy()
    return sp.csr_matrix((values * root[row] / root[column], (row, column)), shape=(n, n))


def error(data: Data, matrix: Any, is_cut: bool) -> float:
    """The largest error of an entry (i, j) in a sample of rows, divided by sqrt(d_i d_j) as its bound is. Where the
    smaller entries of a row were cut off, it is that of the others."""
    n, root = data.num_nodes, np.sqrt(degrees(data))
    a = normalized_adjacency(data.edge_index, n)
    rows = np.random.default_rng(0).choice(n, min(n, _SAMPLE, _SAMPLE_ENTRIES // n), replace=False)
    found = matrix[rows].toarray()
    is_met = found > 0 if is_cut else np.ones_like(found, bool)
    return float((np.abs(exact_rows(a, rows) - found) / np.outer(root[rows], root))[is_met].max())


def exact_rows(a: Any, rows: Any) -> Any:
    """Rows of exact PageRank, by summing until nothing is left in double precision."""
    rest = np.zeros((len(rows), a.shape[0]))
    rest[np.arange(len(rows)), rows] = ALPHA
    total = rest.copy()
    while rest.max() > 1e-12:
        rest = (1 - ALPHA) * (rest @ a)
        total += rest
    return total


def degrees(data: Data) -> Any:
    """Degrees with the self-loop."""
    return np.bincount(data.edge_index[0].numpy(), minlength=data.num_nodes) + 1.0
