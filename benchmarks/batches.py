"""Training in batches against the full batch: results/scale/batches.csv.

``python -m benchmarks.batches`` runs what is missing and can be interrupted and resumed at any time. All rows of a
graph have the same settings, filter and split; each is measured in a process of its own, with one thread.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import fmean
from time import process_time

from benchmarks import table
from benchmarks.table import Row
from ncgnn.batches import ROUTINGS
from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.provenance import machine
from ncgnn.train.epoch import accuracy
from ncgnn.train.reproducible import use_threads

RESULTS = Path(__file__).parents[1] / "results/scale/batches.csv"
GRAPHS = ("pubmed", "amazon-computers")
FULL = "full"
MODES = (FULL, "local", "history", "exact")
SPLITS = (0, 1, 2, 3, 4)
KEY = ("graph", "split", "mode", "config")
TOP_K, TARGETS = 32, 256


def settings(mode: str) -> Config:
    """The default settings with a sparsified filter, on the full batch or in batches."""
    batches = {} if mode == FULL else {"batch": TARGETS, "batch_routing": mode}
    return Config.make({"top_k": TOP_K} | batches)


def measure(graph: str, split: int, mode: str) -> Row:
    """Accuracy of a training, its CPU time per epoch, and the memory it takes beyond libraries, data and filter."""
    config = settings(mode)
    with use_threads(1):
        data = PreparedGraph.of_complete(usual_split(complete(load_dataset(graph)), split))
        start = process_time()
        inputs = MODEL.prepare(data, config)
        preparation, before, start = process_time() - start, _peak(), process_time()
        fitted = MODEL.fit(inputs, data.data, config)
        seconds, peak = process_time() - start, _peak()
        scores, _ = MODEL.scores(fitted.module, inputs)
    epochs = fitted.history[-1].epoch
    found = {key: accuracy(scores, data.data.y, data.data[f"{key}_mask"]) for key in ("val", "test")}
    return {
        **{"graph": graph, "split": split, "mode": mode, "config": config.hash},
        **{f"{key}_accuracy": round(value, 6) for key, value in found.items()},
        **{"epochs": epochs, "epoch_seconds": round(seconds / epochs, 4)},
        **{"filter_seconds": round(preparation, 2), "before_mb": round(before, 1), "peak_mb": round(peak - before, 1)},
        **machine(),
    }


def _peak() -> float:
    return getrusage(RUSAGE_SELF).ru_maxrss / 1024


def run(graphs: list[str], modes: list[str], splits: list[int]) -> None:
    """Measure what is missing; each row is stored at once."""
    for split, graph, mode in ((s, g, m) for s in splits for g in graphs for m in modes):
        order = {"graph": graph, "split": split, "mode": mode}
        if table.holds(table.read(RESULTS), order | {"config": settings(mode).hash}):
            continue
        command = [sys.executable, "-m", "benchmarks.batches", "--one", json.dumps(order)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        row = json.loads(done.stdout.splitlines()[-1])
        table.keep(RESULTS, [row], KEY)
        print(graph, split, mode, row["test_accuracy"], row["epoch_seconds"], row["peak_mb"], flush=True)


def report(rows: list[Row]) -> str:
    """Means over the splits that all modes of a graph have."""
    lines = ["graph | mode | splits | test accuracy | seconds per epoch | MB"]
    for graph in GRAPHS:
        found = {mode: {r["split"]: r for r in rows if (r["graph"], r["mode"]) == (graph, mode)} for mode in MODES}
        found = {mode: splits for mode, splits in found.items() if splits}
        common = set.intersection(*map(set, found.values())) if found else set()
        for mode, splits in found.items():
            means = [fmean(splits[s][key] for s in common) for key in ("test_accuracy", "epoch_seconds", "peak_mb")]
            lines.append(f"{graph} | {mode} | {len(common)} | {means[0]:.2%} | {means[1]:.3f} | {means[2]:.0f}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS))
    parser.add_argument("--modes", nargs="+", choices=(FULL, *ROUTINGS), default=list(MODES[:3]))
    parser.add_argument("--splits", nargs="+", type=int, default=list(SPLITS))
    parser.add_argument("--report", action="store_true", help="run nothing; print the means")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(**json.loads(options.one))))
    elif options.report:
        print(report(table.read(RESULTS)))
    else:
        run(options.graphs, options.modes, options.splits)


if __name__ == "__main__":
    main()
