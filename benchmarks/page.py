"""The tables of docs/performance.md, generated from the CSV files in results/benchmarks.

The text between ``<!-- NAME -->`` and ``<!-- end NAME -->`` is replaced by the result of the function of that name.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.aims import aims
from benchmarks.plots import TITLES
from benchmarks.scaling import exponent
from benchmarks.table import Row, read

NOTHING = "Not measured yet."


def render(page: str, results: Path) -> str:
    """The page with updated tables."""
    for name, block in BLOCKS.items():
        page = fill(page, name, block(results))
    return page


def fill(page: str, name: str, text: str) -> str:
    """The page with this text in the block of this name."""
    mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not mark.search(page):
        raise ValueError(f"the page has no place for {name!r}")
    return mark.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    first, *others = [f"| {' | '.join(str(cell) for cell in row)} |" for row in (head, *rows)]
    return "\n".join([first, "|---|" + "---:|" * (len(head) - 1), *others])


def made_on(rows: list[Row]) -> str:
    """Date, machine, versions and commit; all distinct values if rows differ, and the range of loads."""

    def each(key: str) -> str:
        return ", ".join(dict.fromkeys(str(row[key]) for row in rows))

    titles = {"Python": "python", "torch": "torch", "PyG": "torch_geometric", "numba": "numba"}
    versions = ", ".join(f"{title} {each(key)}" for title, key in titles.items())
    where = f"{each('cpu')}, {each('cores')} cores, {each('threads')} thread{'s' * (each('threads') != '1')}"
    loads = [row["load"] for row in rows]
    load = " to ".join(dict.fromkeys((str(min(loads)), str(max(loads)))))
    return f"Measured on {each('date')}: {where}, load {load} before; {versions}; commit {each('commit')}."


def models(task: str, file: str = "steps.csv") -> Callable[[Path], str]:
    """Milliseconds per model and graph, and the two ratios of interest."""

    def block(results: Path) -> str:
        rows = [row for row in read(results / file) if row["task"] == task]
        if not rows:
            return NOTHING
        names = list(dict.fromkeys(row["model"] for row in rows))
        table = []
        for graph in dict.fromkeys(row["graph"] for row in rows):
            times = {row["model"]: row["wall_median_ms"] for row in rows if row["graph"] == graph}
            table.append([graph, *(number(times[name]) for name in names), *ratios(times)])
        return markdown(["graph", *names, "NCGNN / GAT", "plain / NCGNN"], table) + f"\n\n{made_on(rows)}"

    return block


def ratios(values: Row) -> list[str]:
    pairs = (("NCGNN", "GAT"), ("NCGNN, plain", "NCGNN"))
    return [f"{values[a] / values[b]:.2f}" if a in values and values.get(b) else "-" for a, b in pairs]


def memory(results: Path) -> str:
    rows = read(results / "memory.csv")
    if not rows:
        return NOTHING
    names = list(dict.fromkeys(row["model"] for row in rows))
    table = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        peaks = {row["model"]: row["peak_mb"] for row in rows if row["graph"] == graph}
        table.append([graph, *(number(peaks[name]) for name in names), *ratios(peaks)])
    return markdown(["graph", *names, "NCGNN / GAT", "plain / NCGNN"], table) + f"\n\n{made_on(rows)}"


def filters(results: Path) -> str:
    rows = read(results / "filters.csv")
    if not rows:
        return NOTHING
    table = [
        [
            row["graph"],
            row["filter"],
            row["by"],
            number(row["wall_median_ms"]),
            row["entries"],
            row["bound"],
            row["error"],
        ]
        for row in rows
    ]
    return markdown(["graph", "filter", "by", "ms", "entries", "bound", "error"], table) + f"\n\n{made_on(rows)}"


def pagerank(results: Path) -> str:
    rows = read(results / "pagerank-large.csv")
    if not rows:
        return NOTHING
    table = [
        [row["nodes"], row["edges"], row["by"], number(row["wall_median_ms"] / 1000)]
        + [row[key] for key in ("entries", "bound", "error")]
        + [number(row["peak_mb"])]
        for row in rows
    ]
    head = ["nodes", "edges", "by", "seconds", "entries", "bound", "error", "MB"]
    return markdown(head, table) + f"\n\n{made_on(rows)}"


def growth(file: str, prefix: str = "") -> Callable[[Path], str]:
    """The fitted exponents and the plots."""

    def block(results: Path) -> str:
        rows = read(results / file)
        if not rows:
            return NOTHING
        table, pictures = [], []
        for series in dict.fromkeys(row["series"] for row in rows):
            points = [(row["value"], row["wall_median_ms"]) for row in rows if row["series"] == series]
            e, _ = exponent(*zip(*points, strict=True))
            table.append([TITLES[series], points[0][0], points[-1][0], f"{e:.2f}"])
            pictures.append(f"![Time of a step against {TITLES[series]}](performance/{prefix}{series}.png)")
        head = ["grows with", "from", "to", "exponent"]
        return "\n\n".join([markdown(head, table), "\n".join(pictures), made_on(rows)])

    return block


def roofline(results: Path) -> str:
    rows = read(results / "roofline.csv")
    if not rows:
        return NOTHING
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    least = {(row["graph"], row["stage"]): row["least_ms"] for row in rows}
    table = [
        [stage, *(number(least[graph, stage]) for graph in graphs)] for stage in dict.fromkeys(r["stage"] for r in rows)
    ]
    whole = {row["graph"]: row for row in rows if row["stage"] == "whole step"}
    table.append(["whole step, measured", *(number(whole[graph]["step_ms"]) for graph in graphs)])
    table.append(["share reached", *(f"{whole[graph]['share']:.0%}" for graph in graphs)])
    peak = f"Machine peak: {rows[0]['peak_gbs']} GB/s, {rows[0]['peak_gflops']} GFlop/s."
    return "\n\n".join([markdown(["lower bound, ms", *graphs], table), f"{peak} {made_on(rows)}"])


def starts(results: Path) -> str:
    rows = read(results / "first-start.csv")
    if not rows:
        return NOTHING
    table = [[row["filter"], row["start"], row["compiled"], row["seconds"]] for row in rows]
    return markdown(["filter", "start", "functions compiled", "seconds"], table) + f"\n\n{made_on(rows)}"


def profile(task: str) -> Callable[[Path], str]:
    """Milliseconds per stage and graph, longest first."""

    def block(results: Path) -> str:
        rows = [row for row in read(results / "profile.csv") if row["task"] == task]
        if not rows:
            return NOTHING
        graphs = list(dict.fromkeys(row["graph"] for row in rows))
        spent = {(row["stage"], row["graph"]): row["ms"] for row in rows}
        stages = sorted({stage for stage, _ in spent}, key=lambda stage: -sum(spent.get((stage, g), 0) for g in graphs))
        table = [[stage, *(number(spent.get((stage, graph), 0)) for graph in graphs)] for stage in stages]
        return markdown(["ms", *graphs], table) + f"\n\n{made_on(rows)}"

    return block


def aims_table(results: Path) -> str:
    found = aims(results)
    return markdown(["target", "measured", "met"], found) if found else NOTHING


def number(value: float) -> str:
    """Three significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


BLOCKS: dict[str, Callable[[Path], str]] = {
    "aims": aims_table,
    "step": models("step"),
    "predict": models("predict"),
    "step-one-thread": models("step", "steps-one-thread.csv"),
    "predict-one-thread": models("predict", "steps-one-thread.csv"),
    "memory": memory,
    "filters": filters,
    "pagerank-large": pagerank,
    "growth": growth("scaling.csv"),
    "growth-large": growth("scaling-large.csv", "large-"),
    "roofline": roofline,
    "first-start": starts,
    "profile-step": profile("step"),
    "profile-predict": profile("predict"),
}
