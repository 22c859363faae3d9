"""Two processes of torchrun beside one process, with the same batches: results/scale/processes.csv.

``python -m benchmarks.processes`` trains on a generated graph, in turns, and stores each run at once; ``--report``
prints the quickest runs. Targets per second are those of training alone. CPU seconds are of all processes
together, with what comes before and after training; the difference between a long and a short training is that of the
epochs between them, on whatever a machine does besides.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks import table
from benchmarks.page import markdown
from benchmarks.pipeline import measured, trained
from benchmarks.table import Row

RESULTS = Path(__file__).parents[1] / "results/scale/processes.csv"
KEY = ("nodes", "processes", "epochs", "turn")
BATCH, SHORT, LONG = 512, 2, 10
HEAD = ["nodes", "processes", "turns", "targets a second", "CPU s per epoch, of each process"]
SETTINGS = ("top_k=16", "hops=[0,1]", f"patience={LONG}")


def command(nodes: int, processes: int, epochs: int) -> list[str]:
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    start = [sys.executable, *(launch if processes > 1 else []), "-m", "ncgnn", "train", f"large:{nodes}"]
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    split = ["--fractions", "0.05", "0.01", "--no-refit"]
    return [*start, *split, *settings, "--batch", str(BATCH), "--epochs", str(epochs), "--overwrite", "--out", "run"]


def run(nodes: int, turns: int) -> None:
    """Measure what is missing."""
    from ncgnn.provenance import machine

    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        os.environ |= {"OMP_NUM_THREADS": "1", "NCGNN_CACHE": f"{place}/cache"}
        is_ready = False
        for turn, epochs, processes in ((t, e, p) for t in range(turns) for e in (SHORT, LONG) for p in (1, 2)):
            row: Row = {"nodes": nodes, "processes": processes, "epochs": epochs, "turn": turn}
            if table.holds(table.read(RESULTS), row):
                continue
            if not is_ready:  # the filter is prepared before anything is measured
                measured(command(nodes, 1, 1), Path("log"))
                is_ready = True
            here = machine()
            row |= {"batch": BATCH, **measured(command(nodes, processes, epochs), Path("log")), **trained(Path("run"))}
            row["targets_a_second"] = round(row["targets"] / row["training_s"], 1)
            table.keep(RESULTS, [row | here], KEY)
            print(row, flush=True)
        os.chdir("/")


def best(rows: list[Row]) -> list[list[object]]:
    """The quickest of the turns, for each number of processes."""
    lines: list[list[object]] = []
    for nodes, count in sorted({(row["nodes"], row["processes"]) for row in rows}):
        found = [row for row in rows if (row["nodes"], row["processes"]) == (nodes, count)]
        short, long = ([row for row in found if row["epochs"] == epochs] for epochs in (SHORT, LONG))
        if short and long:
            rate = max(row["targets_a_second"] for row in long)
            less, more = (min(row["cpu_s"] for row in part) for part in (short, long))
            lines.append([nodes, count, len(long), rate, f"{(more - less) / (LONG - SHORT) / count:.2f}"])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--report", action="store_true", help="run nothing; print the quickest runs")
    options = parser.parse_args()
    if options.report:
        print(markdown(HEAD, best(table.read(RESULTS))))
    else:
        run(options.nodes, options.turns)


if __name__ == "__main__":
    main()
