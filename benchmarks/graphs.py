"""The available graphs."""

from collections.abc import Iterator, Sequence

from torch_geometric.data import Data

from ncgnn.bench import random_graph
from ncgnn.data import local_graph, usual_split

GENERATED = "generated"
NAMES = ("cora", "pubmed", "amazon-computers", "squirrel", GENERATED)


def at_hand(names: Sequence[str]) -> Iterator[Data]:
    """Those of the named graphs that are on this machine, one after another, each with a split."""
    for name in names:
        if name == GENERATED:
            yield random_graph(50_000)
            continue
        data = local_graph(name)
        if data is not None:
            yield usual_split(data)
