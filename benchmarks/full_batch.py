"""Time and memory of full-batch training on generated graphs beside what ``ncgnn check`` foresees.

``python -m benchmarks.full_batch 10000 100000`` writes ``results/scale/full-batch.csv``, a row for each number of
nodes, each measured in a process of its own; rows of other sizes stay. ``--in-blocks`` before
the numbers computes votes in blocks at any size. CPU time of one thread, as other programs may be running.
"""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import pandas as pd

RESULTS = Path(__file__).parents[1] / "results/scale/full-batch.csv"
EPOCHS = 2  # the second meets the state of the optimiser


def measure(nodes: int, most_bytes: int | None = None) -> dict[str, float | int | str]:
    """One row; run in a fresh process, whose peak it is. ``most_bytes`` of votes are computed at once."""
    from ncgnn.bench.memory import peak_memory, reset_peak
    from ncgnn.check import cost
    from ncgnn.check.view import View
    from ncgnn.data import split_stratified
    from ncgnn.data.generated.large import large_graph
    from ncgnn.models.base.contestant import enter
    from ncgnn.models.ncgnn import memory
    from ncgnn.models.ncgnn.config import Config
    from ncgnn.nn import model
    from ncgnn.provenance import machine
    from ncgnn.train.reproducible import use_threads

    if most_bytes is not None:
        model.MOST_BYTES = memory.MOST_BYTES = most_bytes
    with use_threads(1):
        config = Config.make({})
        start = process_time()
        data = split_stratified(large_graph(nodes), 0.01, 0.01)
        generated = process_time() - start
        enter("ncgnn", split_stratified(large_graph(100)), config).step()  # compiles
        before = reset_peak()
        contestant = enter("ncgnn", data, config)
        seconds = []
        for _ in range(EPOCHS):
            wall, start = perf_counter(), process_time()
            contestant.step()
            contestant.predict()
            seconds.append((process_time() - start, perf_counter() - wall))
        peak = peak_memory()
        cost.perf_counter = process_time  # type: ignore[attr-defined]
        expected = cost.expected_cost(View.of(data), config)
    votes = config.num_capsules * len(data.class_names) * config.class_channels
    row = {
        "nodes": nodes,
        "edges": data.num_edges // 2,
        "features": data.num_features,
        "classes": len(data.class_names),
        "capsules": config.num_capsules,
        "generated_cpu_s": round(generated, 1),
        "before_mb": round(before),
        "expected_mb": round(expected.megabytes),
        "measured_mb": round(peak - before),
        "peak_mb": round(peak),
        "expected_epoch_cpu_s": round(expected.epoch_seconds, 3),
        "measured_epoch_cpu_s": round(min(cpu for cpu, _ in seconds), 3),
        "measured_epoch_s": round(min(wall for _, wall in seconds), 3),
        "in_blocks": 4 * nodes * votes > model.MOST_BYTES,
    }
    return row | machine()


def main(sizes: list[str], most_bytes: str) -> None:
    for nodes in sizes:
        order = [sys.executable, "-m", "benchmarks.full_batch", "--one", nodes, most_bytes]
        done = subprocess.run(order, check=True, capture_output=True, text=True)
        row = json.loads(done.stdout.splitlines()[-1])
        print(row, flush=True)
        rows = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=list(row))
        same = (rows["nodes"] == row["nodes"]) & (rows["in_blocks"] == row["in_blocks"])
        rows = pd.DataFrame([*rows[~same].to_dict("records"), row])
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        rows.sort_values(["nodes", "in_blocks"]).to_csv(RESULTS, index=False)


if __name__ == "__main__":
    first, *others = sys.argv[1:]
    if first == "--one":
        print(json.dumps(measure(int(others[0]), int(others[1]) if others[1] else None)))
    elif first == "--in-blocks":
        main(others, "0")
    else:
        main([first, *others], "")
