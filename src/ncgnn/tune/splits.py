"""The splits of a search, with training and validation labels only."""

from torch_geometric.data import Data

from ncgnn.data import complete, num_published_splits, standardise, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.errors import InputError


def hidden_splits(data: Data, number: int | None = None) -> list[Data]:
    """The first usual splits of a graph, without test labels; default: two, or the only published one."""
    if number is None:
        number = 1 if num_published_splits(data) == 1 else 2
    splits = [usual_split(complete(data), seed) for seed in range(number)]
    if not all(split.val_mask.any() for split in splits):
        raise InputError(f"graph {data.get('name', '')!r} has no validation nodes, which tuning requires")
    return [hide_test_labels(standardise(split)) for split in splits]
