"""Time and memory of training in batches on generated graphs beside what ``ncgnn check`` foresees.

``python -m benchmarks.in_batches 10000 100000`` writes ``results/scale/in-batches.csv``, a row for each number of
nodes, each measured in a process of its own. CPU time of one thread, as other programs may be running. Half of the
nodes that have a class, one in a hundred, are trained on.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import torch

from benchmarks import table
from benchmarks.table import Row
from ncgnn.bench.memory import peak_memory, reset_peak
from ncgnn.check import cost
from ncgnn.check.batch import TARGETS, in_batches
from ncgnn.check.view import View
from ncgnn.data import split_stratified
from ncgnn.data.generated.large import large_graph
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.base.contestant import enter
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.provenance import machine
from ncgnn.train.loop import step
from ncgnn.train.reproducible import use_threads

RESULTS = Path(__file__).parents[1] / "results/scale/in-batches.csv"


def measure(nodes: int) -> Row:
    """One row; run in a fresh process, whose peak it is."""
    with use_threads(1), tempfile.TemporaryDirectory() as folder:
        os.environ["NCGNN_CACHE"] = folder
        data = split_stratified(large_graph(nodes), 0.005, 0.005)
        config, _ = in_batches(Config.make({}), data, TARGETS, "")
        enter("ncgnn", split_stratified(large_graph(100)), Config.make({"top_k": 4})).step()  # compiles
        before, start = reset_peak(), process_time()
        graph = PreparedGraph.of_complete(data)
        inputs = MODEL.prepare(graph, config)
        of_filter = process_time() - start
        module = MODEL.build(Sizes.of(data), config)
        how = MODEL.training(module, config)
        of_steps, of_validation = [], []
        for number in (1, 2, 3):  # the later ones meet what the first has allocated
            start = process_time()
            for batch, split in inputs.batches(number, data, data.train_mask):
                step(module, batch, split, how)
            of_steps.append(process_time() - start)
            start = process_time()
            with torch.no_grad():
                inputs.only(data, data.val_mask)[0].scores(module.eval())
            of_validation.append(process_time() - start)
        of_epoch, peak = min(of_steps) + min(of_validation) / how.validate_every, peak_memory()
        cost.perf_counter = process_time  # type: ignore[attr-defined]
        expected = cost.expected_cost(View.of(data), Config.make({})).batches
    assert expected is not None
    return {
        **{"nodes": nodes, "edges": data.num_edges // 2, "hops": max(config.hop_set), "before_mb": round(before)},
        **{"targets": expected.targets, "batch_nodes": expected.nodes},
        **{"expected_filter_cpu_s": round(expected.filter_seconds, 1), "measured_filter_cpu_s": round(of_filter, 1)},
        **{"expected_epoch_cpu_s": round(expected.epoch_seconds, 2), "measured_epoch_cpu_s": round(of_epoch, 2)},
        **{"expected_mb": round(expected.megabytes), "measured_mb": round(peak - before)},
        **machine(),
    }


def main(sizes: list[str]) -> None:
    for nodes in sizes:
        order = [sys.executable, "-m", "benchmarks.in_batches", "--one", nodes]
        done = subprocess.run(order, check=True, stdout=subprocess.PIPE, text=True)
        row = json.loads(done.stdout.splitlines()[-1])
        table.keep(RESULTS, [row], ("nodes",))
        print(row, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main(sys.argv[1:])
