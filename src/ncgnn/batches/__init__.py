"""Training and prediction in batches of nodes, with filter rows and features in memory-mapped files."""

from ncgnn.batches.features import map_features, mapped_features
from ncgnn.batches.filter_rows import FilterRows, stored_rows
from ncgnn.batches.graph import MappedNames, is_mapped_graph, map_graph, mapped_graph
from ncgnn.batches.inputs import Batches
from ncgnn.batches.kept import Around, KeptRouting
from ncgnn.batches.links import Links
from ncgnn.batches.neighbourhood import ROUTINGS, BatchRouting
from ncgnn.batches.shards import Damaged
from ncgnn.batches.targets import FullBatch
from ncgnn.batches.whole import Read, Routed, sweep

__all__ = [
    "ROUTINGS",
    "Around",
    "BatchRouting",
    "Batches",
    "Damaged",
    "FilterRows",
    "FullBatch",
    "KeptRouting",
    "Links",
    "MappedNames",
    "Read",
    "Routed",
    "is_mapped_graph",
    "map_features",
    "map_graph",
    "mapped_features",
    "mapped_graph",
    "stored_rows",
    "sweep",
]
