"""From tables to reasons on a large generated graph, through the command line: results/scale/pipeline.csv.

``python -m benchmarks.pipeline --nodes 1000000 --folder FOLDER`` runs the stages that have no row yet, one after
another, and stores each row at once. The graph has ten edges a node, 128 features and 20 classes, of which one node in
a hundred is known. PyG's GCN learns the same split on the full batch. Accuracy is that on all nodes whose class is in
no table. Anonymous memory is the peak without pages of mapped files.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter, sleep

import numpy as np
import pandas as pd

from benchmarks import table
from benchmarks.table import Row

RESULTS = Path(__file__).parents[1] / "results/scale/pipeline.csv"
KEY = ("nodes", "stage")
FEATURES, CLASSES, EDGES, KNOWN, EXPLAINED = 128, 20, 10, 0.01, 10_000
SETTINGS = ("hops=[0,1,2]", "top_k=16", "patience=20")


def write_tables(folder: Path, nodes: int) -> None:
    """Parquet tables of nodes and edges, with the classes of few nodes, and beside them the classes of all."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    from ncgnn.data.generated.large import large_graph

    data = large_graph(nodes, EDGES * nodes, FEATURES, CLASSES)
    ids = np.char.add("n", np.arange(nodes).astype(str))
    names = np.array([f"class {number}" for number in range(CLASSES)])[data.y.numpy()]
    is_known = np.zeros(nodes, bool)
    is_known[np.random.default_rng(1).permutation(nodes)[: round(KNOWN * nodes)]] = True
    columns = {f"f{number:03d}": data.x[:, number].numpy() for number in range(FEATURES)}
    folder.mkdir(parents=True, exist_ok=True)
    write_table(pa.table({"id": ids, "topic": np.where(is_known, names, ""), **columns}), folder / "nodes.parquet")
    write_table(pa.table({"id": ids, "class": names, "known": is_known}), folder / "truth.parquet")
    source, target = data.edge_index.numpy()
    kept = source < target
    write_table(pa.table({"source": ids[source[kept]], "target": ids[target[kept]]}), folder / "edges.parquet")


def stages(folder: Path, nodes: int) -> Iterator[tuple[str, list[str], Callable[[], Row]]]:
    """Name and command of each stage, and what else there is to say of it."""
    graph = ["--nodes", str(folder / "nodes.parquet"), "--edges", str(folder / "edges.parquet"), "--label", "topic"]
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    own, peer = folder / "run", folder / "gcn"
    python, ncgnn = [sys.executable, "-m"], [sys.executable, "-m", "ncgnn"]
    write = [*python, "benchmarks.pipeline", "--write", "--nodes", str(nodes), "--folder", str(folder)]
    yield "tables", write, dict
    yield "check", [*ncgnn, "check", *graph, *settings, "--json"], dict
    common = [*graph, "--no-refit", "--overwrite"]
    yield "train", [*ncgnn, "train", *common, *settings, "--out", str(own)], lambda: trained(own)
    out = folder / "predictions.parquet"
    predict = [*ncgnn, "predict", str(own), "--overwrite", "--out", str(out)]
    yield "predict", predict, lambda: {"targets": nodes, "test_accuracy": accuracy(out, folder)}
    chosen = np.sort(np.random.default_rng(2).permutation(nodes)[:EXPLAINED])
    named = [part for number in chosen for part in ("--node", f"n{number}")]
    reasons = ["--overwrite", "--out", str(folder / "reasons.parquet")]
    yield "explain", [*ncgnn, "explain", str(own), *named, *reasons], lambda: {"targets": len(chosen)}
    yield "GCN", [*ncgnn, "train", *common, "--model", "pyg-gcn", "--out", str(peer)], lambda: trained(peer)
    found = folder / "gcn.parquet"
    predict = [*ncgnn, "predict", str(peer), "--overwrite", "--out", str(found)]
    yield "GCN, predict", predict, lambda: {"targets": nodes, "test_accuracy": accuracy(found, folder)}


def trained(folder: Path) -> Row:
    """Target nodes of all epochs, and the seconds of training alone."""
    run = json.loads((folder / "run.json").read_text("utf-8"))
    epochs, seconds = int(pd.read_csv(folder / "history.csv")["epoch"].iloc[-1]), run["seconds"]
    return {"targets": epochs * run["split"]["train"], "epochs": epochs, "training_s": round(seconds, 1)}


def accuracy(predictions: Path, folder: Path) -> float:
    """On the nodes whose class is in no table."""
    found, truth = pd.read_parquet(predictions), pd.read_parquet(folder / "truth.parquet")
    hidden = ~truth["known"].to_numpy()
    is_right = found["predicted"].astype(str).to_numpy() == truth["class"].to_numpy()
    return round(float(is_right[hidden].mean()), 5)


def measured(command: list[str], log: Path) -> Row:
    """Time and peak memory of a command."""
    before, start = getrusage(RUSAGE_CHILDREN), perf_counter()
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        watch = _Memory(process.pid)
        code = process.wait()
    after = getrusage(RUSAGE_CHILDREN)
    if code and "check" not in command:  # which tells by its code that a problem is serious
        raise SystemExit(f"{' '.join(command)[:200]}: exit code {code}\n{log.read_text()[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": round(perf_counter() - start, 1), "cpu_s": round(cpu, 1), **watch.peaks}


class _Memory(threading.Thread):
    """Watches a process."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._path, self._anonymous, self._all = Path(f"/proc/{process}/status"), 0, 0
        self.start()

    def run(self) -> None:
        while True:
            try:
                lines = dict(line.split(":", 1) for line in self._path.read_text().splitlines())
                self._anonymous = max(self._anonymous, int(lines["RssAnon"].split()[0]))
                self._all = max(self._all, int(lines["VmHWM"].split()[0]))
            except (OSError, KeyError):  # it has ended
                return
            sleep(0.1)

    @property
    def peaks(self) -> Row:
        return {"anonymous_mb": self._anonymous // 1024, "peak_mb": self._all // 1024}


def run(nodes: int, folder: Path, only: list[str]) -> None:
    """Measure the stages that are missing."""
    from ncgnn.provenance import machine

    os.environ["NCGNN_CACHE"] = str(folder / "cache")
    folder.mkdir(parents=True, exist_ok=True)
    for stage, command, more in stages(folder, nodes):
        if (only and stage not in only) or table.holds(table.read(RESULTS), {"nodes": nodes, "stage": stage}):
            continue
        here = machine()
        cost = measured(command, folder / f"{stage}.log")
        found = {"targets": None, "epochs": None, "training_s": None, "test_accuracy": None} | more()
        row = {"nodes": nodes, "edges": EDGES * nodes, "stage": stage, **cost, **found, **here}
        table.keep(RESULTS, [row], KEY)
        print({key: row[key] for key in (*KEY, *cost, *found)}, flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True, help="for tables, runs and outputs")
    parser.add_argument("--only", nargs="+", default=[], help="these stages only")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.write:
        write_tables(options.folder, options.nodes)
    else:
        run(options.nodes, options.folder.resolve(), options.only)


if __name__ == "__main__":
    main()
