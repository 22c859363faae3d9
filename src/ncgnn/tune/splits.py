"""The splits that a search may look at: training and validation labels, no others."""

from torch_geometric.data import Data

from ncgnn.data import complete, num_published_splits, standardise, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.errors import InputError


def hidden_splits(data: Data, number: int | None = None) -> list[Data]:
    """The first splits that are usual for a graph, without the labels of their test nodes; two by default, or the one
    that was published with it."""
    if number is None:
        number = 1 if num_published_splits(data) == 1 else 2
    splits = [usual_split(complete(data), seed) for seed in range(number)]
    if not all(split.val_mask.any() for split in splits):
        raise InputError(f"graph {data.get('name', '')!r} has no validation nodes: nothing can be tuned")
    return [hide_test_labels(standardise(split)) for split in splits]
