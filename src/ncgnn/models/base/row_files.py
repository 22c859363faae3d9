"""Where the filter rows of batches are stored, by graph and filter."""

import hashlib
import tempfile
import warnings
from functools import cache
from pathlib import Path

from torch_geometric.data import Data

from ncgnn.batches import Damaged, FilterRows, stored_rows
from ncgnn.batches.written import forget_damaged
from ncgnn.models.base.filter_cache import digest_of_edges, filter_folder, sources
from ncgnn.nn import GraphFilter
from ncgnn.sparse import normalized_adjacency


def rows_folder() -> Path:
    """Beside the cached filters; without a cache, a folder that is removed when the process ends."""
    cached = filter_folder()
    folder = Path(_own_folder().name) if cached is None else cached.with_name("rows")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def _own_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="ncgnn-rows-")


def row_files(filter: GraphFilter, data: Data) -> FilterRows:
    """The rows of a filter for a graph, made in chunks if they are not there, or not as they were written."""
    edges, weight, nodes = data.edge_index, data.get("edge_weight"), int(data.num_nodes or 0)
    key = f"{sources()} {filter.cache_key} {nodes} {digest_of_edges(edges, weight)}"
    folder = rows_folder() / hashlib.sha256(key.encode()).hexdigest()[:32]

    def stored() -> FilterRows:
        return stored_rows(
            filter, lambda: normalized_adjacency(edges, nodes, weight, filter.has_loops), nodes, folder, key
        )

    try:
        return stored()
    except Damaged as error:
        warnings.warn(f"{error.path}: {error.reason}; preparing them again", UserWarning, stacklevel=2)
        forget_damaged(folder)
        return stored()
