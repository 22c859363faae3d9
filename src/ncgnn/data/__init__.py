"""Graphs: named graphs, your own tables, generated graphs; statistics and splits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncgnn.data.completion import complete
    from ncgnn.data.edge_tables import EdgeTable
    from ncgnn.data.generated.large import large_graph
    from ncgnn.data.generated.planted import planted
    from ncgnn.data.generated.syn_cora import syn_cora
    from ncgnn.data.graph_statistics import Statistics, statistics
    from ncgnn.data.named.load import load_dataset
    from ncgnn.data.named.packaged import local_graph
    from ncgnn.data.named.registry import DATASETS, DatasetInfo, Published, dataset_info
    from ncgnn.data.npz import save_graph
    from ncgnn.data.splits import (
        num_published_splits,
        published_split,
        set_aside,
        split_fractions,
        split_per_class,
        split_stratified,
        usual_split,
    )
    from ncgnn.data.tables.encoding import Column, Encoding
    from ncgnn.data.tables.options import read_columns
    from ncgnn.data.tables.read import read_graph
    from ncgnn.data.tables.report import Role, role_lines
    from ncgnn.data.tables.standardise import standardise, unscaled, with_encoding

__all__ = [
    "DATASETS",
    "Column",
    "DatasetInfo",
    "EdgeTable",
    "Encoding",
    "Published",
    "Role",
    "Statistics",
    "complete",
    "dataset_info",
    "large_graph",
    "load_dataset",
    "local_graph",
    "num_published_splits",
    "planted",
    "published_split",
    "read_columns",
    "read_graph",
    "role_lines",
    "save_graph",
    "set_aside",
    "split_fractions",
    "split_per_class",
    "split_stratified",
    "standardise",
    "statistics",
    "syn_cora",
    "unscaled",
    "usual_split",
    "with_encoding",
]

_HOMES = (
    "completion",
    "edge_tables",
    "generated.large",
    "generated.planted",
    "generated.syn_cora",
    "graph_statistics",
    "named.load",
    "named.packaged",
    "named.registry",
    "npz",
    "splits",
    "tables.encoding",
    "tables.options",
    "tables.read",
    "tables.report",
    "tables.standardise",
)


def __getattr__(name: str) -> Any:
    # Importing PyG takes seconds, and the tables of the example need none of it.
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"ncgnn.data.{home}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'ncgnn.data' has no attribute {name!r}")
