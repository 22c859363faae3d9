"""Performance targets of the library, and whether the measurements meet them."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.scaling import exponent
from benchmarks.table import Row, read

Aim = list[str]

AT_MOST_GAT = {"cora": 1.0, "pubmed": 1.5, "amazon-computers": 1.0, "squirrel": 1.0}
TIMES_PLAIN = {"pubmed": 2.5, "amazon-computers": 2.5}
MEMORY = {"amazon-computers": 1.0, "squirrel": 1.0}
SHARE = {"amazon-computers": 0.4}
PAGERANK, EXPONENT = 3.0, 1.1
COMPILING = {"first": 10.0, "second": 0.0}  # seconds


def aims(results: Path) -> list[Aim]:
    """Rows of target, measured value, and yes or no; targets without measurements are left out."""
    memory = read(results / "memory.csv")
    return [
        *of_steps(read(results / "steps.csv")),
        *of_steps(read(results / "steps-one-thread.csv")),
        *against_gat(memory, "peak_mb", MEMORY, "peak memory of training"),
        *roofline_share(read(results / "roofline.csv")),
        *compiling(read(results / "first-start.csv")),
        *pagerank_speed(read(results / "pagerank-large.csv")),
        *growth(read(results / "scaling-large.csv")),
    ]


def of_steps(rows: list[Row]) -> Iterator[Aim]:
    if not rows:
        return
    threads = "1 thread" if rows[0]["threads"] == 1 else f"{rows[0]['threads']} threads"
    training, predicting = ([row for row in rows if row["task"] == task] for task in ("step", "predict"))
    yield from against_gat(training, "wall_median_ms", AT_MOST_GAT, f"training step, {threads},")
    yield from against_plain(training, threads)
    yield from against_gat(predicting, "wall_median_ms", AT_MOST_GAT, f"prediction, {threads},")


def against_gat(rows: list[Row], key: str, limits: dict[str, float], what: str) -> Iterator[Aim]:
    for graph, limit in limits.items():
        values = {row["model"]: row[key] for row in rows if row["graph"] == graph}
        if "NCGNN" in values and values.get("GAT"):
            yield at_most(f"{what} on {graph}: at most {limit} times GAT's", values["NCGNN"] / values["GAT"], limit)


def against_plain(rows: list[Row], threads: str) -> Iterator[Aim]:
    for graph, limit in TIMES_PLAIN.items():
        values = {row["model"]: row["wall_median_ms"] for row in rows if row["graph"] == graph}
        if {"NCGNN", "NCGNN, plain"} <= set(values):
            aim = f"training step, {threads}, on {graph}: at least {limit} times faster than plain operations"
            yield at_least(aim, values["NCGNN, plain"] / values["NCGNN"], limit)


def roofline_share(rows: list[Row]) -> Iterator[Aim]:
    for row in rows:
        if row["stage"] == "whole step" and row["graph"] in SHARE:
            limit = SHARE[row["graph"]]
            yield at_least(f"share of the roofline on {row['graph']}: at least {limit}", row["share"], limit)


def compiling(rows: list[Row]) -> Iterator[Aim]:
    for row in rows:
        limit = COMPILING[row["start"]]
        aim = f"compiling at the {row['start']} start with {row['filter']}: at most {limit:.0f} s"
        yield at_most(aim, row["seconds"], limit)


def pagerank_speed(rows: list[Row]) -> Iterator[Aim]:
    both = {row["by"]: row["wall_median_ms"] for row in rows[:2]}
    if len(both) == 2:
        aim = f"top-k PageRank of {rows[0]['nodes']} nodes: at least {PAGERANK} times faster than get_ppr"
        yield at_least(aim, both["PyG get_ppr"] / both["NCGNN"], PAGERANK)


def growth(rows: list[Row]) -> Iterator[Aim]:
    for series in dict.fromkeys(row["series"] for row in rows):
        points = [(row["value"], row["wall_median_ms"]) for row in rows if row["series"] == series]
        e, _ = exponent(*zip(*points, strict=True))
        yield at_most(f"exponent in {series}: at most {EXPONENT}", e, EXPONENT)


def at_most(aim: str, found: float, limit: float) -> Aim:
    return [aim, f"{found:.2f}", "yes" if found <= limit else "no"]


def at_least(aim: str, found: float, limit: float) -> Aim:
    return [aim, f"{found:.2f}", "yes" if found >= limit else "no"]
