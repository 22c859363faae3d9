"""Longer benchmarks: PageRank on a million nodes, and scaling of a step up to a million nodes."""

from collections.abc import Callable

from torch_geometric.data import Data

from benchmarks import filters
from benchmarks.table import Row
from ncgnn.bench import Timing, random_graph
from ncgnn.bench.memory import peak_memory, reset_peak
from ncgnn.bench.timing import turn

BOTH, ALONE = 100_000, 1_000_000
"""Nodes of the graph on which ``get_ppr`` runs too, and of the largest."""


def measure(tell: Callable[[str], None], both: int = BOTH, alone: int = ALONE) -> list[Row]:
    """PageRank by pushing, compared with ``get_ppr``, then alone. Each runs once, after compiling on a small graph."""
    pagerank(random_graph(100, num_features=1), tell, with_peer=True)
    together = pagerank(random_graph(both, num_features=1), tell, with_peer=True)
    return together + pagerank(random_graph(alone, num_features=1), tell, with_peer=False)


def pagerank(data: Data, tell: Callable[[str], None], with_peer: bool) -> list[Row]:
    return [
        _row(data, name, by, method, tell)
        for (name, by), method in filters.push(data).items()
        if with_peer or by == "NCGNN"
    ]


def _row(data: Data, name: str, by: str, method: Callable[[], object], tell: Callable[[str], None]) -> Row:
    tell(f"{data.num_nodes} nodes: {name}, {by}")
    timing, results = Timing(), []
    before = reset_peak()
    turn(lambda: results.append(method()), 1, timing)
    graph = {"nodes": data.num_nodes, "edges": data.edge_index.shape[1] // 2, "filter": name, "by": by}
    peak = {"peak_mb": round(peak_memory() - before, 1)}
    return graph | filters.outcome(data, name, by, results[0]) | peak | timing.row()
