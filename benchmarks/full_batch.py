"""Time and memory of full-batch training on generated graphs beside what ``ncgnn check`` foresees.

``python -m benchmarks.full_batch 10000 100000`` writes ``results/scale/full-batch.csv``, a row for each number of
nodes, each measured in a process of its own; rows of other sizes stay. CPU time of one thread, as other programs may be
running.
"""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import pandas as pd

RESULTS = Path(__file__).parents[1] / "results/scale/full-batch.csv"
EPOCHS = 2  # the second meets the state of the optimiser


def measure(nodes: int, options: dict[str, int]) -> dict[str, float | int | str]:
    """One row; run in a fresh process, whose peak it is."""
    from ncgnn.bench.memory import peak_memory, reset_peak
    from ncgnn.check import cost
    from ncgnn.check.view import View
    from ncgnn.data import split_stratified
    from ncgnn.data.generated.large import large_graph
    from ncgnn.models.base.contestant import enter
    from ncgnn.models.ncgnn.config import Config
    from ncgnn.nn.model import MOST_BYTES
    from ncgnn.provenance import machine
    from ncgnn.train.reproducible import use_threads

    with use_threads(1):
        config = Config.make(options)
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
        "in_blocks": 4 * nodes * votes > MOST_BYTES,
    }
    return row | machine()


def main(sizes: list[int], options: dict[str, int]) -> None:
    for nodes in sizes:
        order = [sys.executable, "-m", "benchmarks.full_batch", "--one", str(nodes), json.dumps(options)]
        done = subprocess.run(order, check=True, capture_output=True, text=True)
        row = json.loads(done.stdout.splitlines()[-1])
        print(row, flush=True)
        rows = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=list(row))
        same = (rows["nodes"] == nodes) & (rows["capsules"] == row["capsules"])
        rows = pd.DataFrame([*rows[~same].to_dict("records"), row])
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        rows.sort_values(["capsules", "nodes"]).to_csv(RESULTS, index=False)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(measure(int(sys.argv[2]), json.loads(sys.argv[3]))))
    else:
        sizes = [int(nodes) for nodes in sys.argv[1:]]
        main(sizes, {})
