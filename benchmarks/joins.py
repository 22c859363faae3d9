"""The ids of an edge table as node numbers, by several libraries: results/joins.csv.

``python -m benchmarks.joins`` numbers both ends of ten million edges among a million nodes with text ids, from Parquet
files, and fills in docs/own-data.md. Each way runs in a process of its own, in turns; DuckDB has to be installed.
"""

import argparse
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from benchmarks import table
from benchmarks.page import NOTHING, fill, made_on, markdown, number
from benchmarks.table import Row
from ncgnn.bench.memory import peak_memory, reset_peak
from ncgnn.data.tables.edges import node_ids, node_numbers
from ncgnn.data.tables.files import read_table
from ncgnn.files import atomic
from ncgnn.provenance import machine

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/joins.csv", ROOT / "docs/own-data.md"
NODES, EDGES, TURNS = 1_000_000, 10_000_000, 3
ENDS = ("source", "target")


def by_pyarrow(nodes: Path, edges: Path) -> np.ndarray:
    """As the library does."""
    ids = node_ids(read_table(nodes, "nodes")[0]["id"], "nodes")
    return node_numbers(read_table(edges, "edges")[0], ENDS, ids, "edges")


def by_pandas(nodes: Path, edges: Path) -> np.ndarray:
    ids, links = pd.Index(read_table(nodes, "nodes")[0]["id"]), read_table(edges, "edges")[0]
    return np.stack([ids.get_indexer(links[end]) for end in ENDS], axis=1)


def by_duckdb(nodes: Path, edges: Path) -> np.ndarray:
    """Both ends joined, in the order of the edges, which their weights need."""
    import duckdb

    found = duckdb.execute(
        f"""
        WITH ids AS (SELECT id, file_row_number AS number FROM read_parquet('{nodes}', file_row_number = true))
        SELECT s.number, t.number FROM read_parquet('{edges}', file_row_number = true) e
        LEFT JOIN ids s ON e.source = s.id LEFT JOIN ids t ON e.target = t.id ORDER BY e.file_row_number
        """
    ).fetchnumpy()
    return np.stack([np.asarray(column) for column in found.values()], axis=1)


WAYS: dict[str, Callable[[Path, Path], np.ndarray]] = {
    "pyarrow": by_pyarrow,
    "pandas": by_pandas,
    "DuckDB": by_duckdb,
}


def write_tables(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    ids = np.char.add("node-", rng.permutation(NODES).astype(str))
    pairs = rng.integers(0, NODES, (EDGES, 2))
    paths = folder / "nodes.parquet", folder / "edges.parquet"
    contents = {"id": ids}, {end: pa.array(ids).take(pa.array(pairs[:, e])) for e, end in enumerate(ENDS)}
    for path, content in zip(paths, contents, strict=True):
        pa.parquet.write_table(pa.table(content), path)
    np.save(folder / "pairs.npy", pairs)
    return paths


def measure(way: str, nodes: Path, edges: Path) -> Row:
    before, start, cpu = reset_peak(), perf_counter(), process_time()
    found = WAYS[way](nodes, edges)
    times = {"seconds": round(perf_counter() - start, 2), "cpu_seconds": round(process_time() - cpu, 2)}
    peak = round(peak_memory() - before)
    assert np.array_equal(found, np.load(edges.with_name("pairs.npy")))
    return {"way": way, "nodes": NODES, "edges": EDGES} | times | {"peak_mb": peak}


def best(rows: list[Row]) -> Row:
    """The turn with the least CPU time."""
    return min(rows, key=lambda row: float(row["cpu_seconds"]))


def render(page: str, rows: list[Row]) -> str:
    """The page with an updated table."""
    lines = [[row["way"], number(row["seconds"]), number(row["cpu_seconds"]), row["peak_mb"]] for row in rows]
    found = markdown(["ids of edges numbered by", "seconds", "CPU seconds", "MB"], lines)
    return fill(page, "joins", f"{found}\n\n{made_on(rows)}" if rows else NOTHING)


def main() -> None:
    argparse.ArgumentParser("joins", description=__doc__).parse_args()
    stamp, spawned = machine(), get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        with ProcessPoolExecutor(1, spawned) as writer:
            paths = writer.submit(write_tables, Path(folder)).result()
        turns: dict[str, list[Row]] = {way: [] for way in WAYS}
        for way in list(WAYS) * TURNS:
            with ProcessPoolExecutor(1, spawned) as other:
                turns[way].append(other.submit(measure, way, *paths).result())
                print(turns[way][-1], flush=True)
    table.write(RESULTS, [best(rows) for rows in turns.values()], stamp)
    text = render(PAGE.read_text("utf-8"), table.read(RESULTS))
    with atomic(PAGE) as file:
        file.write(text)


if __name__ == "__main__":
    main()
