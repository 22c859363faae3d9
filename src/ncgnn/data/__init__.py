"""Graphs in: named ones, a person's own tables, generated ones; their statistics and splits."""

from ncgnn.data.complete import complete
from ncgnn.data.encoding import Column, Encoding
from ncgnn.data.load import load_dataset
from ncgnn.data.local import local_graph
from ncgnn.data.registry import DATASETS, DatasetInfo, Published, dataset_info
from ncgnn.data.save import save_graph
from ncgnn.data.splits import published_split, split_fractions, split_per_class, split_stratified, usual_split
from ncgnn.data.statistics import Statistics, statistics
from ncgnn.data.synthetic import syn_cora
from ncgnn.data.tables import read_graph

__all__ = [
    "DATASETS",
    "Column",
    "DatasetInfo",
    "Encoding",
    "Published",
    "Statistics",
    "complete",
    "dataset_info",
    "load_dataset",
    "local_graph",
    "published_split",
    "read_graph",
    "save_graph",
    "split_fractions",
    "split_per_class",
    "split_stratified",
    "statistics",
    "syn_cora",
    "usual_split",
]
