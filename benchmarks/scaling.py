"""Scaling of a training step of NCGNN with the graph and the model."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.table import Row
from ncgnn.bench import enter, interleaved, measured, random_graph
from ncgnn.sparse import pool

START = {"nodes": 20_000, "degree": 10, "capsules": 8, "iterations": 3, "classes": 4}
VARIED = {
    "nodes": (3_000, 10_000, 30_000, 100_000),
    "edges": (5, 10, 20, 40),  # mean degrees
    "capsules": (4, 8, 16, 32),
    "iterations": (2, 4, 8, 16),
    "classes": (2, 4, 8, 16, 32),
}
LARGE = {
    "nodes": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "edges": (5, 10, 20, 40, 80),
}
FEATURES, HOPS = 32, 2


def measure(
    varied: Mapping[str, Sequence[int]], start: dict[str, int], repeats: int, tell: Callable[[str], None]
) -> list[Row]:
    """One row for each size of each series."""
    return [
        row
        for series, sizes in varied.items()
        for size in sizes
        for row in [point(series, start | {"degree" if series == "edges" else series: size}, repeats, tell)]
    ]


def point(series: str, setting: dict[str, int], repeats: int, tell: Callable[[str], None]) -> Row:
    data = random_graph(setting["nodes"], setting["degree"], FEATURES, setting["classes"])
    config = measured(HOPS, num_capsules=setting["capsules"], iterations=setting["iterations"])
    edges = data.edge_index.shape[1] // 2
    value = edges if series == "edges" else setting[series]
    contestant = enter("ncgnn", data, config)
    timing = interleaved({"step": contestant.step}, repeats, lambda text: tell(f"{series} {value}: {text}"), 10)["step"]
    pool.clear()
    return {"series": series, "value": value} | setting | {"edges": edges} | timing.row()


def exponent(sizes: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """``e`` and ``c`` of ``times = c sizes^e``, by least squares on the logarithms."""
    e, log_c = np.polyfit(np.log(sizes), np.log(times), 1)
    return float(e), float(np.exp(log_c))
