"""The tables of docs/scale.md, generated from the CSV files in results/scale.

``python -m benchmarks.scale_page`` writes them. A table without rows says so.
"""

from collections.abc import Callable
from math import log
from pathlib import Path
from statistics import fmean

from benchmarks import batches, processes
from benchmarks.page import NOTHING, fill, made_on, markdown
from benchmarks.plan import GRAPHS, constants, plan
from benchmarks.table import Row, read

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/scale", ROOT / "docs/scale.md"
TITLES = {"full": "full batch", "local": "`local`", "history": "`history`", "exact": "`exact`"}


def render(page: str, results: Path) -> str:
    """The page with updated tables."""
    for name, block in BLOCKS.items():
        page = fill(page, name, block(results))
    return page


def accuracy(results: Path) -> str:
    """Means over the splits on which all modes of a graph were trained."""
    rows, table, used = read(results / "batches.csv"), [], []
    for graph in batches.GRAPHS:
        of_mode = {mode: {r["split"]: r for r in rows if (r["graph"], r["mode"]) == (graph, mode)} for mode in TITLES}
        of_mode = {mode: found for mode, found in of_mode.items() if found}
        splits = set.intersection(*map(set, of_mode.values())) if len(of_mode) > 1 else set()
        for mode, found in of_mode.items() if splits else ():
            own, full = ([part[split] for split in sorted(splits)] for part in (found, of_mode["full"]))
            used += own
            val, test = (fmean(row[f"{key}_accuracy"] for row in own) for key in ("val", "test"))
            gap = 100 * (test - fmean(row["test_accuracy"] for row in full))
            seconds, memory = (fmean(row[key] for row in own) for key in ("epoch_seconds", "peak_mb"))
            about = [graph, TITLES[mode], len(splits), f"{val:.1%}", f"{test:.1%}", f"{gap:+.1f}"]
            table.append([*about, f"{seconds:.3f}", f"{memory:.0f}"])
    head = ["graph", "mode", "splits", "validation accuracy", "test accuracy", "points", "seconds per epoch", "MB"]
    return f"{markdown(head, table)}\n\n{made_on(used)}" if table else NOTHING


def full_batch(results: Path) -> str:
    rows = read(results / "full-batch.csv")
    keys = ["nodes", "edges", "in_blocks", "expected_mb", "measured_mb", "expected_epoch_cpu_s", "measured_epoch_cpu_s"]
    head = ["nodes", "edges", "votes in blocks", "MB, foreseen", "MB", "CPU s per epoch, foreseen", "CPU s per epoch"]
    return _listed(rows, head, keys)


def in_batches(results: Path) -> str:
    rows = sorted(read(results / "in-batches.csv"), key=lambda row: row["nodes"])
    pairs = [f"{kind}_{what}" for what in ("filter_cpu_s", "epoch_cpu_s", "mb") for kind in ("expected", "measured")]
    names = ["CPU s for the filter", "CPU s per epoch", "MB"]
    head = ["nodes", "edges", *(text for name in names for text in (f"{name}, foreseen", name))]
    return _listed(rows, head, ["nodes", "edges", *pairs])


def streams(results: Path) -> str:
    """Each size beside the one before: an exponent of one is linear time, a ratio of one memory that does not grow."""
    rows = sorted(read(results / "streams.csv"), key=lambda row: (row["command"], row["filter"], row["nodes"]))
    table, before = [], None
    for row in rows:
        cells = [row[key] for key in ("command", "filter", "nodes", "cpu_s", "anonymous_mb", "peak_mb")]
        if before is not None and all(before[key] == row[key] for key in ("command", "filter")):
            exponent = log(row["cpu_s"] / before["cpu_s"]) / log(row["nodes"] / before["nodes"])
            cells += [f"{exponent:.2f}", f"{row['anonymous_mb'] / before['anonymous_mb']:.2f}"]
        table.append([*cells, "", ""][:8])
        before = row
    head = ["command", "filter", "nodes", "CPU s", "MB", "MB with mapped files", "exponent of time", "ratio of MB"]
    return f"{markdown(head, table)}\n\n{made_on(rows)}" if rows else NOTHING


def pipeline(results: Path) -> str:
    rows = sorted(read(results / "pipeline.csv"), key=lambda row: row["nodes"])
    keys = ["nodes", "stage", "cpu_s", "wall_s", "anonymous_mb", "peak_mb", "test_accuracy"]
    head = ["nodes", "stage", "CPU s", "seconds", "MB", "MB with mapped files", "accuracy"]
    return _listed(rows, head, keys)


def shared(results: Path) -> str:
    rows = read(results / "processes.csv")
    return f"{markdown(processes.HEAD, processes.best(rows))}\n\n{made_on(rows)}" if rows else NOTHING


def on_paper(results: Path) -> str:
    found = constants(read(results / "in-batches.csv"), read(results / "streams.csv"))
    if found is None:
        return NOTHING
    columns = [dict(plan(graph, found)) for graph in GRAPHS]
    table = [[name, *(column[name] for column in columns)] for name in columns[0]]
    return markdown(["", *(graph.name for graph in GRAPHS)], table) + f"\n\nMeasured constants of one thread: {found}."


def _listed(rows: list[Row], head: list[str], keys: list[str]) -> str:
    table = [[_cell(row.get(key, "")) for key in keys] for row in rows]
    return f"{markdown(head, table)}\n\n{made_on(rows)}" if rows else NOTHING


def _cell(value: object) -> object:
    return {"True": "yes", "False": "no"}.get(str(value), value)


BLOCKS: dict[str, Callable[[Path], str]] = {
    "accuracy": accuracy,
    "full-batch": full_batch,
    "in-batches": in_batches,
    "streams": streams,
    "pipeline": pipeline,
    "processes": shared,
    "plan": on_paper,
}


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text("utf-8"), RESULTS), "utf-8")
