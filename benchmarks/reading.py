"""Time to read, split and check tables with a million nodes and five million edges.

python -m benchmarks.reading             measure, write results/reading.csv and fill in docs/own-data.md
python -m benchmarks.reading --nodes N   another size, printed alone
"""

import argparse
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from benchmarks import table
from benchmarks.page import NOTHING, fill, made_on, markdown, number
from benchmarks.table import Row
from ncgnn.bench.memory import peak_memory, reset_peak
from ncgnn.check import check_graph
from ncgnn.data import read_graph, split_per_class, standardise
from ncgnn.files import atomic
from ncgnn.provenance import machine

ROOT = Path(__file__).parents[1]
NODES, DEGREE = 1_000_000, 5  # edges per node
WORDS, LENGTH = 20_000, 8


def write_tables(folder: Path, nodes: int, seed: int = 0) -> tuple[Path, Path]:
    """Parquet files with text ids, a label, a number and a date with gaps, a category and a text; weighted edges."""
    rng = np.random.default_rng(seed)
    ids = pc.binary_join_element_wise("n", pa.array(np.arange(nodes)).cast(pa.string()), "")
    gaps = rng.random(nodes) < 0.1
    words = pa.array([f"word{i}" for i in range(WORDS)])
    drawn = [words.take(pa.array((WORDS ** rng.random(nodes)).astype(np.int64))) for _ in range(LENGTH)]
    columns = {
        "id": ids,
        "topic": pa.array(rng.choice(["a", "b", "c"], nodes), mask=rng.random(nodes) < 0.9),
        "age": pa.array(rng.normal(40, 9, nodes), mask=gaps),
        "since": pa.array(rng.integers(0, 20_000, nodes).astype("datetime64[D]"), mask=gaps),
        "city": pa.array(rng.integers(0, 50, nodes)).cast(pa.string()),
        "title": pc.binary_join_element_wise(*drawn, " "),
    }
    ends = [ids.take(pa.array(rng.integers(0, nodes, DEGREE * nodes))) for _ in range(2)]
    links = {"source": ends[0], "target": ends[1], "weight": pa.array(rng.random(DEGREE * nodes) + 0.1)}
    paths = folder / "nodes.parquet", folder / "edges.parquet"
    for path, content in zip(paths, (columns, links), strict=True):
        pa.parquet.write_table(pa.table(content), path)
    return paths


def measure(paths: tuple[Path, Path]) -> list[Row]:
    """Reading, then what needs a split."""
    data, read = _timed("read", lambda: read_graph(*paths, label="topic", weight="weight", categorical=["city"]))
    split, prepare = _timed("split and standardise", lambda: standardise(split_per_class(data)))
    _, check = _timed("check", lambda: check_graph(split))
    rows = data.num_nodes * (1 + DEGREE)
    size = {"nodes": data.num_nodes, "rows": rows, "features": data.x.shape[1]}
    steps = (read, prepare, check)
    return [size | step | {"cpu_per_million": round(step["cpu_seconds"] * 1e6 / rows, 3)} for step in steps]


def _timed(name: str, task: Callable[[], Any]) -> tuple[Any, Row]:
    before, start, cpu = reset_peak(), perf_counter(), process_time()
    result = task()
    times = {"seconds": round(perf_counter() - start, 2), "cpu_seconds": round(process_time() - cpu, 2)}
    return result, {"step": name} | times | {"peak_mb": round(peak_memory() - before)}


def render(page: str, rows: list[Row]) -> str:
    """The page with an updated table."""
    sizes = ["step", "nodes", "rows of both tables", "features"]
    head = [*sizes, "seconds", "CPU seconds", "CPU seconds per million rows", "MB"]
    keys = ["step", "nodes", "rows", "features", "seconds", "cpu_seconds", "cpu_per_million", "peak_mb"]
    cells = [[number(row[key]) if isinstance(row[key], float) else row[key] for key in keys] for row in rows]
    return fill(page, "reading", f"{markdown(head, cells)}\n\n{made_on(rows)}" if rows else NOTHING)


def main() -> None:
    parser = argparse.ArgumentParser("reading", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=NODES)
    nodes, stamp = parser.parse_args().nodes, machine()  # before the load is our own
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, get_context("spawn")) as other:
        # written elsewhere: memory that was in use once would hide what reading takes
        rows = measure(other.submit(write_tables, Path(folder), nodes).result())
    for row in rows:
        print(row)
    if nodes == NODES:
        table.write(ROOT / "results/reading.csv", rows, stamp)
        page = ROOT / "docs/own-data.md"
        text = render(page.read_text("utf-8"), table.read(ROOT / "results/reading.csv"))
        with atomic(page) as file:
            file.write(text)


if __name__ == "__main__":
    main()
