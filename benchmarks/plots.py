"""One plot per scaling series."""

from pathlib import Path

from benchmarks.scaling import exponent
from benchmarks.table import Row
from ncgnn.drawing import new_figure, save

TITLES = {
    "nodes": "nodes",
    "edges": "edges",
    "capsules": "primary capsules, K",
    "iterations": "routing iterations, T",
    "classes": "classes, C",
}


def draw(rows: list[Row], folder: Path, prefix: str = "") -> list[Path]:
    """A PNG file for each series of the rows of ``scaling.csv``."""
    found = list(dict.fromkeys(row["series"] for row in rows))
    paths = [folder / f"{prefix}{series}.png" for series in found]
    for series, path in zip(found, paths, strict=True):
        draw_one(series, [row for row in rows if row["series"] == series], path)
    return paths


def draw_one(series: str, rows: list[Row], path: Path) -> None:
    sizes, times = [row["value"] for row in rows], [row["wall_median_ms"] for row in rows]
    e, c = exponent(sizes, times)
    figure = new_figure(4.5, 3.4)
    axes = figure.add_subplot()
    axes.loglog(sizes, [c * size**e for size in sizes], color="grey", label=f"exponent {e:.2f}")
    axes.loglog(sizes, times, "o", label="median")
    axes.set(xlabel=TITLES[series], ylabel="ms", title=f"A training step grows with {TITLES[series].split(',')[0]}")
    axes.legend(frameon=False)
    save(figure, path, dpi=120)
