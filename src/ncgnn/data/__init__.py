"""Graphs in: named ones, a person's own tables, generated ones; their statistics and splits."""

from ncgnn.data.column_kinds import read_columns
from ncgnn.data.complete import complete
from ncgnn.data.encoding import Column, Encoding
from ncgnn.data.load import load_dataset
from ncgnn.data.local import local_graph
from ncgnn.data.planted import planted
from ncgnn.data.registry import DATASETS, DatasetInfo, Published, dataset_info
from ncgnn.data.report import Role, role_lines
from ncgnn.data.save import save_graph
from ncgnn.data.splits import (
    num_published_splits,
    published_split,
    set_aside,
    split_fractions,
    split_per_class,
    split_stratified,
    usual_split,
)
from ncgnn.data.standardise import standardise, unscaled, with_encoding
from ncgnn.data.statistics import Statistics, statistics
from ncgnn.data.synthetic import syn_cora
from ncgnn.data.tables import read_graph

__all__ = [
    "DATASETS",
    "Column",
    "DatasetInfo",
    "Encoding",
    "Published",
    "Role",
    "Statistics",
    "complete",
    "dataset_info",
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
