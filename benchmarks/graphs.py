"""The available graphs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from torch_geometric.data import Data

from ncgnn.bench import random_graph
from ncgnn.data import local_graph, read_graph, usual_split
from ncgnn.data.generated.shop import shop_tables

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


def shop() -> Data:
    """The example shop, read from its tables."""
    with TemporaryDirectory() as folder:
        for name, rows in shop_tables().items():
            rows.to_csv(Path(folder) / name, index=False)
        tables = [Path(folder) / name for name in ("products.csv", "bought-together.csv")]
        read = read_graph(*tables, label="department", title="title", weight="orders", ignore=["shelf"])
        data = usual_split(read)
    data.name = "shop"
    return data
