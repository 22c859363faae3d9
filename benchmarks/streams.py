"""Prediction and explanation of all nodes of generated graphs in mapped files: results/scale/streams.csv.

``python -m benchmarks.streams 10000 100000 1000000`` measures what is missing, each command in a process of its own:
``ncgnn predict`` and ``ncgnn explain --out``, whose memory must not grow with the nodes and whose time must be linear
in them. Memory is anonymous, without the pages of mapped files. ``--report`` prints the exponents.
"""

import argparse
import math
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from benchmarks import table
from benchmarks.pipeline import measured
from benchmarks.table import Row

RESULTS = Path(__file__).parents[1] / "results/scale/streams.csv"
KEY = ("nodes", "filter", "command")
FILTERS = {
    "attention": ("top_k=16", "hops=[0,1]"),
    "PageRank": ("top_k=16", 'filter="diffusion"', "tolerance=1e-4"),
    "threshold": ("epsilon=0.02", "hops=[0,1]"),
}
COMMANDS = {
    "predict": ("predict", "run", "--overwrite", "--out", "predictions.parquet"),
    "explain": ("explain", "run", "--overwrite", "--out", "reasons.parquet"),
    "explain, runner-up": ("explain", "run", "--against", "runner-up", "--overwrite", "--out", "reasons.parquet"),
}


def prepare(folder: Path, nodes: int) -> None:
    """A graph in mapped files."""
    from ncgnn.batches import map_graph
    from ncgnn.data import split_stratified
    from ncgnn.data.generated.large import large_graph

    map_graph(folder / "graph", split_stratified(large_graph(nodes, num_features=32), 500 / nodes, 500 / nodes))


def run(nodes: int, filter: str, commands: list[str]) -> None:
    """Measure the commands that have no row yet."""
    from ncgnn.provenance import machine

    rows = table.read(RESULTS)
    missing = [c for c in commands if not table.holds(rows, {"nodes": nodes, "filter": filter, "command": c})]
    if not missing:
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["NCGNN_CACHE"] = str(folder / "cache")
        ncgnn = [sys.executable, "-m", "ncgnn"]
        os.chdir(folder)
        measured([sys.executable, "-m", "benchmarks.streams", "--prepare", str(nodes)], folder / "log")
        settings = [part for setting in FILTERS[filter] for part in ("--set", setting)]
        train = ["train", "graph", "--batch", "512", "--epochs", "1", "--no-refit", "--out", "run", *settings]
        measured([*ncgnn, *train], folder / "log")
        for command in missing:
            here = machine()
            cost = measured([*ncgnn, *COMMANDS[command]], folder / "log")
            row = {"nodes": nodes, "edges": 5 * nodes, "filter": filter, "command": command, **cost, **here}
            table.keep(RESULTS, [row], KEY)
            print({key: row[key] for key in (*KEY, *cost)}, flush=True)
        os.chdir("/")


def report(rows: list[Row]) -> str:
    """Exponents of time, and ratios of memory, from one size to the next."""
    lines = ["command | filter | from | to | exponent of CPU time | anonymous memory"]
    for command, filter in sorted({(row["command"], row["filter"]) for row in rows}):
        found = sorted(
            (row for row in rows if (row["command"], row["filter"]) == (command, filter)), key=lambda row: row["nodes"]
        )
        for some, more in pairwise(found):
            exponent = math.log(more["cpu_s"] / some["cpu_s"]) / math.log(more["nodes"] / some["nodes"])
            ratio = more["anonymous_mb"] / some["anonymous_mb"]
            sizes = f"{some['nodes']} | {more['nodes']}"
            lines.append(f"{command} | {filter} | {sizes} | {exponent:.2f} | {ratio:.2f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nodes", nargs="*", type=int)
    parser.add_argument("--filters", nargs="+", choices=FILTERS, default=["attention"])
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--report", action="store_true", help="run nothing; print exponents")
    parser.add_argument("--prepare", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare(Path.cwd(), options.prepare)
    elif options.report:
        print(report(table.read(RESULTS)))
    else:
        for nodes in options.nodes:
            for filter in options.filters:
                run(nodes, filter, options.commands)


if __name__ == "__main__":
    main()
