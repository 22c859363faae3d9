"""Whether each baseline reaches the accuracy published for it: results/published/rows.csv and a table in
docs/models.md.

``python -m benchmarks.published`` trains what is missing, cheapest models first, and can be interrupted and resumed at
any time. Each model is trained with its published settings where its figure was published, under the same protocol, and
its mean test accuracy is to be within 1.5 points of the figure:

- ``public``: Planetoid's split of Cora (20 nodes per class, 500 for validation, 1,000 for test), several seeds;
- ``48/32/20``, ``published splits``: the ten splits that come with a graph, one seed;
- ``60/20/20``: random splits, as in the paper on JK-Net;
- ``20 per class``: random splits with 500 nodes for validation; Luo et al. drew one, and tested on 1,000 nodes.

Validation accuracy chooses the epoch, as everywhere in this library. Test accuracy chooses nothing.
"""

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from time import process_time
from typing import Any

import torch
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.page import NOTHING, fill, markdown
from ncgnn.data import complete, load_dataset, split_per_class, split_stratified, usual_split
from ncgnn.data.named.download import cache_folder
from ncgnn.data.named.packaged import data_folders
from ncgnn.data.splits import hide_test_labels
from ncgnn.files import atomic
from ncgnn.models import PreparedGraph, RunSettings, find_model
from ncgnn.models.base.presets import published_figures
from ncgnn.provenance import machine
from ncgnn.train.epoch import accuracy
from ncgnn.train.loop import class_scores
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/published/rows.csv", ROOT / "docs/models.md"
TOLERANCE = 1.5
PUBLIC, SPLITS, OFFICIAL, RANDOM, FEW = "public", "48/32/20", "published splits", "60/20/20", "20 per class"
RUNS = {PUBLIC: 5, SPLITS: 10, OFFICIAL: 10, RANDOM: 5, FEW: 5}
KEY = ("model", "variant", "graph", "protocol", "run", "config")


@dataclass(frozen=True)
class Figure:
    """A published accuracy in percent, and where it stands. ``grid`` holds changes to the published settings of the
    graph; like the authors, we take those that are best on validation nodes, on average over all runs."""

    model: str
    graph: str
    protocol: str
    accuracy: float
    source: str
    variant: str = ""
    grid: tuple[dict[str, Any], ...] = ({},)

    @property
    def settings(self) -> list[RunSettings]:
        model = find_model(self.model)
        found = model.published(self.graph).model_dump() | model.of_variant(self.variant)
        return [model.settings_class.make(found | values) for values in self.grid]

    @property
    def name(self) -> dict[str, str]:
        return {key: str(value) for key, value in asdict(self).items() if key in KEY}


_H2GCN = "Zhu et al. (2020), table 5"
_GEOM = "Pei et al. (2020), table 3"
_GRID = tuple(
    {"relu": relu, "dropout": dropout, "weight_decay": decay}
    for relu in (True, False)
    for dropout in (0.0, 0.5)
    for decay in (1e-3, 2e-5)
)
_DROPOUT = ({"dropout": 0.0}, {"dropout": 0.5})
_AFTER_JOIN = tuple({"layers": layers, "dropout": dropout} for layers in (1, 2, 3) for dropout in (0.0, 0.5))
_NEAR = tuple({"layers": layers, "width": width} for layers in (2, 4, 6) for width in (16, 32))
_KIPF = {"width": 16, "weight_decay": 5e-4, "decay": "first", "epochs": 200, "stop": "window", "patience": 10}


def of_today(model: str, graph: str, protocol: str, source: str, grid: tuple[dict[str, Any], ...] = ({},)) -> Figure:
    """With the accuracy that stands beside the model's presets."""
    return Figure(model, graph, protocol, published_figures(model)[graph, protocol], source, grid=grid)


_ACM = "Luan et al. (2022), updated table 3"

FIGURES = (  # cheap ones first
    Figure("sgc", "cora", PUBLIC, 81.0, "Wu et al. (2019), table 2"),
    Figure("gcn", "cora", PUBLIC, 81.5, "Kipf and Welling (2017), table 2", grid=(_KIPF,)),
    Figure("label-propagation", "cora", PUBLIC, 68.0, "Kipf and Welling (2017), table 2: harmonic functions"),
    of_today("linkx", "texas", SPLITS, "Lim et al. (2021), quoted by Luan et al. (2022)", _AFTER_JOIN),
    of_today("gpr-gnn", "texas", SPLITS, _ACM),
    of_today("acm-gcn", "texas", SPLITS, _ACM),
    of_today("fsgnn", "texas", SPLITS, "FSGNN's README, 3 hops"),
    Figure("mlp", "texas", SPLITS, 81.89, _H2GCN, grid=_DROPOUT),
    Figure("mlp", "wisconsin", SPLITS, 85.29, _H2GCN, grid=_DROPOUT),
    Figure("dagnn", "cora", PUBLIC, 84.4, "Liu et al. (2020), table 2"),
    Figure("jk-net", "cora", RANDOM, 89.6, "Xu et al. (2018), table 3: JK-MaxPool", grid=_NEAR),
    Figure("appnp", "cora", PUBLIC, 83.3, "Liu et al. (2020), table 2"),
    Figure("dropedge", "cora", PUBLIC, 82.8, "DropEdge's README, GCN with 2 layers"),
    Figure("h2gcn", "texas", SPLITS, 84.86, _H2GCN, "1", _GRID),
    Figure("h2gcn", "texas", SPLITS, 82.16, _H2GCN, "2", _GRID),
    Figure("h2gcn", "wisconsin", SPLITS, 86.67, _H2GCN, "1", _GRID),
    Figure("h2gcn", "wisconsin", SPLITS, 85.88, _H2GCN, "2", _GRID),
    Figure("geom-gcn", "texas", SPLITS, 57.58, _GEOM, "isomap"),
    Figure("geom-gcn", "texas", SPLITS, 67.57, _GEOM, "poincare"),
    Figure("geom-gcn", "texas", SPLITS, 59.73, _GEOM, "struc2vec"),
    Figure("geom-gcn", "chameleon", SPLITS, 60.31, _GEOM, "isomap"),
    Figure("geom-gcn", "chameleon", SPLITS, 60.90, _GEOM, "poincare"),
    Figure("geom-gcn", "chameleon", SPLITS, 59.96, _GEOM, "struc2vec"),
    Figure("scattering-gcn", "cora", PUBLIC, 84.2, "Min et al. (2020), table 2"),
    Figure("adaedge", "cora", PUBLIC, 82.3, "Chen et al. (2020): GCN with AdaEdge"),
    Figure("gat", "cora", PUBLIC, 83.0, "Velickovic et al. (2018), table 2"),
    Figure("bbgdc", "cora", PUBLIC, 82.2, "Hasanzadeh et al. (2020): 4 layers"),
    Figure("gcnii", "cora", PUBLIC, 85.5, "Chen et al. (2020), table 2"),
    of_today("ordered-gnn", "cornell", SPLITS, "a leaderboard that quotes Song et al. (2023)"),
    of_today("tuned-gcn", "cora", FEW, "Luo et al. (2024): README of their code"),
    of_today("tuned-sage", "squirrel-filtered", OFFICIAL, "Luo et al. (2024): README of their code"),
    of_today("dir-gnn", "chameleon", SPLITS, "best_hyperparams.yml of the authors' code"),
    Figure("grand", "cora", PUBLIC, 85.4, "Feng et al. (2020), table 1"),
)


def divided(figure: Figure, run: int) -> Data:
    """The graph with the split of a run."""
    if figure.protocol == PUBLIC:
        return planetoid(figure.graph)
    data = complete(load_dataset(figure.graph))
    if figure.protocol == FEW:
        return split_per_class(data, 20, 500, run)
    return split_stratified(data, 0.6, 0.2, run) if figure.protocol == RANDOM else usual_split(data, run)


@cache
def planetoid(graph: str) -> Data:
    """The graph with its public split, read by PyG from raw files in the folder ``pyg`` of the data, or downloaded."""
    from torch_geometric.datasets import Planetoid  # takes seconds to import

    title = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}[graph]
    raw = next((folder / "pyg" / title for folder in data_folders() if (folder / "pyg" / title).is_dir()), None)
    if raw is None:
        return complete(Planetoid(str(cache_folder()), title)[0])
    with tempfile.TemporaryDirectory() as folder:  # the loader writes next to its files
        shutil.copytree(raw, Path(folder) / title)
        return complete(Planetoid(folder, title)[0])


def measure(figure: Figure, settings: RunSettings, run: int) -> table.Row:
    """Train without test labels, then evaluate on them once."""
    model = find_model(figure.model)
    settings = settings.model_copy(update={"seed": run if figure.protocol == PUBLIC else 0})
    data, start = divided(figure, run), process_time()
    with use_threads(1):
        graph = PreparedGraph.of_complete(hide_test_labels(data))
        inputs = model.prepare(graph, settings)
        fitted = model.fit(inputs, graph.data, settings)
        scores = class_scores(fitted.module, inputs)
    found = {
        "val_accuracy": round(fitted.best.val_accuracy, 6),
        "test_accuracy": round(accuracy(scores, data.y, data.test_mask), 6),
        "epochs": len(fitted.history),
        "cpu_seconds": round(process_time() - start, 1),
    }
    return figure.name | {"run": run, "config": settings.hash} | found | machine()


def run(figures: Sequence[Figure]) -> None:
    """Measure what is missing; each row is stored at once."""
    for figure, number in [(one, number) for one in figures for number in range(RUNS[one.protocol])]:
        for settings in figure.settings:
            wanted = figure.name | {"run": number, "config": settings.hash}
            if not table.holds(table.read(RESULTS), wanted):
                row = measure(figure, settings, number)
                table.keep(RESULTS, [row], KEY)
                print(*(row[key] for key in (*KEY, "test_accuracy", "epochs", "cpu_seconds")), flush=True)


def summary(figures: Sequence[Figure]) -> str:
    """Mean test accuracy of each figure's runs beside the figure."""
    lines, rows = [], table.read(RESULTS)
    for figure in figures:
        found = [100 * row["test_accuracy"] for row in best_on_validation(figure, rows)]
        if not found:
            continue
        gap = fmean(found) - figure.accuracy
        spread = f"{stdev(found):.2f}" if len(found) > 1 else "-"
        verdict = "ahead" if gap > TOLERANCE else "reached" if gap >= -TOLERANCE else "missed"
        name = f"{find_model(figure.model).title} {figure.variant}".strip()
        ours = [f"{fmean(found):.2f}", spread, str(len(found)), f"{figure.accuracy:.2f}", f"{gap:+.2f}", verdict]
        lines.append([name, figure.graph, figure.protocol, *ours, figure.source])
    head = ["model", "graph", "protocol", "ours", "±", "runs", "published", "difference", "verdict", "source"]
    return markdown(head, lines) if lines else NOTHING


def render(page: str) -> str:
    """The page with an updated table of all figures."""
    return fill(page, "published", summary(FIGURES))


def best_on_validation(figure: Figure, rows: Sequence[table.Row]) -> list[table.Row]:
    """The runs of the settings with the highest mean validation accuracy; none if a run of any settings is missing."""
    tried = [
        [row for row in rows if table.holds([row], figure.name | {"config": settings.hash})]
        for settings in figure.settings
    ]
    if any(len(runs) < RUNS[figure.protocol] for runs in tried):
        return []
    return max(tried, key=lambda runs: fmean(row["val_accuracy"] for row in runs))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = list(dict.fromkeys(figure.model for figure in FIGURES))
    parser.add_argument("--models", nargs="+", choices=names, default=names)
    parser.add_argument("--report", action="store_true", help="run nothing; show what the stored rows say")
    options = parser.parse_args(arguments)
    chosen = [figure for figure in FIGURES if figure.model in options.models]
    if not options.report:
        run(chosen)
    print(summary(chosen))
    text = render(PAGE.read_text("utf-8"))
    with atomic(PAGE) as file:
        file.write(text)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
