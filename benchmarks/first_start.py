"""Compile time of the first step after installation, and of a second start."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from time import perf_counter
from typing import Any

from numba.core import event

from benchmarks.table import Row
from ncgnn.bench import enter, random_graph
from ncgnn.models.ncgnn.config import Config

FILTERS: dict[str, Row] = {
    "attention": {"hops": 3},
    "PageRank, top 128": {"filter": "diffusion", "top_k": 128},
}
STARTS = ("first", "second")


def measure(tell: Callable[[str], None]) -> list[Row]:
    """A row for each start with each filter, in a process of its own."""
    rows = []
    for name, settings in FILTERS.items():
        with tempfile.TemporaryDirectory() as cache:
            for start in STARTS:
                tell(f"{start} start, {name}")
                rows.append({"filter": name, "start": start} | _in_own_process(settings, cache))
    return rows


def _in_own_process(settings: Row, cache: str) -> Row:
    command = [sys.executable, "-m", "benchmarks.first_start", json.dumps(settings)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"NUMBA_CACHE_DIR": cache}
    )
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found


class _Watch(event.Listener):
    """Counts compiled functions and seconds; the time of a function includes the functions it calls."""

    def __init__(self) -> None:
        self.compiled, self.seconds, self._depth, self._begun = 0, 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._begun = perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        self.compiled += 1
        if self._depth == 0:
            self.seconds += perf_counter() - self._begun


def compile_all(settings: Row) -> Row:
    """Prepare a filter, train a step and predict, on a small graph."""
    watch = _Watch()
    data = random_graph(500, num_features=500, num_classes=7)
    data.x = data.x.where(data.x > 1.5, 0).to_sparse_csr()
    with event.install_listener("numba:compile", watch):
        model = enter("ncgnn", data, Config.make(settings))
        model.step()
        model.predict()
    return {"compiled": watch.compiled, "seconds": round(watch.seconds, 2)}


if __name__ == "__main__":
    print(json.dumps(compile_all(json.loads(sys.argv[1]))))
