"""Over-smoothing by receptive field: results/smoothing/rows.csv, a table and a picture in docs/results.md.

``python -m benchmarks.smoothing`` trains what is missing, all models of a number of hops before the next, and can be
interrupted and resumed at any time. Each model has the settings of table 3 and a receptive field of exactly so many
hops. Test labels are hidden; weights are those of the best epoch on validation nodes.

- *accuracy*: on test nodes.
- *MAD* (Chen et al., 2020): mean cosine distance between the representations of two nodes, over all pairs; and over
  pairs of neighbours. Zero if all nodes are represented alike.
- *energy* (Cai and Wang, 2020): Dirichlet energy of the representations, divided by their squared length, so that their
  scale does not count. Zero if they differ by degree alone, as infinitely many steps of a GCN make them.

A node is represented by what the model predicts from: its class capsules, one after another, or its class scores.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from benchmarks import table
from benchmarks.page import NOTHING, fill, made_on, markdown
from benchmarks.table import Row
from ncgnn.data.splits import hide_test_labels
from ncgnn.drawing import new_figure, save
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.protocol import draw_split, graph
from ncgnn.experiments.recipes import recipe
from ncgnn.files import atomic
from ncgnn.models import PreparedGraph
from ncgnn.provenance import machine
from ncgnn.train.epoch import accuracy
from ncgnn.train.reproducible import use_threads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/smoothing/rows.csv", ROOT / "docs/results.md"
PICTURE = "figures/smoothing.png"
KEY = ("graph", "model", "hops", "split")
GRAPHS = ("cora", "citeseer")
MODELS = ("NCGNN-A", "GCN", "SGC", "GCNII", "DAGNN")
HOPS = (1, 2, 3, 5, 7, 10, 15, 20)
SPLITS = 3
MEASURES = {"test_accuracy": "test accuracy", "mad": "MAD", "mad_neighbours": "MAD, neighbours", "energy": "energy"}


def orders(graphs: Sequence[str]) -> Iterator[tuple[str, str, int, int]]:
    """Graph, model, hops and split: everything on one split before the next."""
    yield from (
        (name, model, hops, split) for split in range(SPLITS) for name in graphs for hops in HOPS for model in MODELS
    )


def measure(name: str, model: str, hops: int, split: int) -> Row:
    """One training, seed 0."""
    cell = Cell("3", name, f"hops={hops}", model)
    found = recipe(cell)
    assert found is not None  # all of them have published settings
    start, data = process_time(), draw_split(graph(name), cell, split)
    with use_threads(1):
        prepared = PreparedGraph.of_complete(hide_test_labels(data))
        inputs = found.definition.prepare(prepared, found.settings)
        fitted = found.definition.fit(inputs, prepared.data, found.settings)
        scores, routing = found.definition.scores(fitted.module, inputs)
    h = scores if routing is None else routing.capsules.flatten(1)
    measured = {
        "test_accuracy": accuracy(scores, data.y, data.test_mask),
        "mad": mean_distance(h),
        "mad_neighbours": mean_distance_of_neighbours(h, data.edge_index),
        "energy": energy(h, *prepared.normalized_edges),
    }
    order = {"graph": name, "model": model, "hops": hops, "split": split, "config": found.settings.hash}
    spent = {"epochs": len(fitted.history), "cpu_seconds": round(process_time() - start, 1)}
    return order | {key: round(float(value), 6) for key, value in measured.items()} | spent | machine()


def mean_distance(h: Tensor) -> float:
    """Mean cosine distance over all pairs of rows of h [N, f]: the squared length of the sum of unit rows is the sum of
    all their products."""
    unit = _unit(h)
    count, nodes = float((unit.square().sum(dim=1) > 0).sum()), len(h)
    products = float(unit.sum(dim=0).square().sum()) - count
    return 1 - products / (nodes * (nodes - 1))


def mean_distance_of_neighbours(h: Tensor, edge_index: Tensor) -> float:
    """Mean cosine distance between the ends of edges."""
    unit, (source, target) = _unit(h), edge_index
    return 1 - float((unit[source] * unit[target]).sum(dim=1).mean())


def energy(h: Tensor, edge_index: Tensor, weight: Tensor) -> float:
    r""":math:`\operatorname{tr}(\mathbf{H}^\top (\mathbf{I} - \tilde{\mathbf{A}}) \mathbf{H}) / \lVert \mathbf{H}
    \rVert^2`, for the weights of the normalised adjacency with self-loops; zero for an H of zeros."""
    h = h.double()
    source, target = edge_index
    products = (weight.double() * (h[source] * h[target]).sum(dim=1)).sum()
    length = h.square().sum()
    return float(1 - products / length) if length > 0 else 0.0


def _unit(h: Tensor) -> Tensor:
    return torch.nn.functional.normalize(h.double(), dim=1)


def run(graphs: Sequence[str]) -> None:
    """Measure what is missing; each row is stored at once."""
    for name, model, hops, split in orders(graphs):
        wanted = {"graph": name, "model": model, "hops": hops, "split": split}
        if not table.holds(table.read(RESULTS), wanted):
            row = measure(name, model, hops, split)
            table.keep(RESULTS, [row], KEY)
            print(*(row[key] for key in (*KEY, *MEASURES, "cpu_seconds")), flush=True)


def render(rows: Sequence[Row]) -> str:
    """A table for each measure, of means over splits."""
    if not rows:
        return NOTHING
    parts = [f"![{', '.join(MEASURES.values())} by receptive field]({PICTURE})"]
    for measure, title in MEASURES.items():
        lines = [
            [f"{name}, {model}", *(_shown(_values(rows, name, model, hops, measure), measure) for hops in HOPS)]
            for name in GRAPHS
            for model in MODELS
        ]
        parts += [f"### Over-smoothing: {title}", markdown([f"{title}, by hops", *map(str, HOPS)], lines)]
    splits = sorted({len(_values(rows, n, m, h, "mad")) for n in GRAPHS for m in MODELS for h in HOPS} - {0})
    return "\n\n".join([*parts, f"Splits per value: {' to '.join(map(str, splits))}. {made_on(list(rows))}"])


def _values(rows: Sequence[Row], name: str, model: str, hops: int, measure: str) -> list[float]:
    wanted = (name, model, hops)
    return [float(row[measure]) for row in rows if (row["graph"], row["model"], row["hops"]) == wanted]


def _shown(values: list[float], measure: str) -> str:
    if not values:
        return "-"
    return f"{100 * fmean(values):.1f}" if measure == "test_accuracy" else f"{fmean(values):.3f}"


def draw(rows: Sequence[Row]) -> "Figure":
    """A row of pictures for each graph, with a line for each model."""
    graphs = [name for name in GRAPHS if any(row["graph"] == name for row in rows)]
    figure = new_figure(14, 3.2 * len(graphs) + 0.4)
    grid = figure.subplots(len(graphs), len(MEASURES), squeeze=False)
    for line, name in zip(grid, graphs, strict=True):
        for axes, (measure, title) in zip(line, MEASURES.items(), strict=True):
            for model in MODELS:
                found = {hops: _values(rows, name, model, hops, measure) for hops in HOPS}
                points = [(hops, fmean(values)) for hops, values in found.items() if values]
                axes.plot(*zip(*points, strict=True), label=model, marker="o", markersize=3) if points else None
            axes.set(title=f"{name}: {title}", xlabel="hops", ylim=(0, None))
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(MODELS))
    return figure


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args(arguments)
    if not options.report:
        run(options.graphs)
    rows = table.read(RESULTS)
    if rows:
        save(draw(rows), PAGE.parent / PICTURE)
    text = fill(PAGE.read_text("utf-8"), "smoothing", render(rows))
    with atomic(PAGE) as file:
        file.write(text)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
