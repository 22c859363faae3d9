"""Models without settings of a user's own, on many graphs: results/default/rows.csv.

``python -m benchmarks.default`` runs what is missing and can be interrupted and resumed at any time. A model tries its
candidates, and its preset for the graph if it has one; the best on validation nodes is chosen while test labels are
hidden, and tested once. NCGNN is what ``ncgnn train`` gives for a graph without a preset: the outcome of its search.
"""

import argparse
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from time import process_time
from typing import Any

from scipy.stats import t
from threadpoolctl import threadpool_limits
from torch import Tensor
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.page import NOTHING, fill, made_on, markdown
from benchmarks.table import Row
from ncgnn.compare import rivals
from ncgnn.data import complete, load_dataset, split_per_class, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.files import atomic
from ncgnn.models import Model, PreparedGraph, RunSettings, find_model
from ncgnn.models.ncgnn import MODEL as NCGNN
from ncgnn.provenance import machine
from ncgnn.search import LEVELS, search
from ncgnn.search.attempts import LOSS_WEIGHT
from ncgnn.search.levels import NEAR
from ncgnn.search.rounds import FEW as FEW_NODES
from ncgnn.train.epoch import accuracy
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/default/rows.csv", ROOT / "docs/results.md"
GRAPHS = (  # small ones first
    *("texas", "cornell", "wisconsin"),
    *(f"syn-cora:0.{tenths}" for tenths in range(1, 10)),
    *("squirrel-filtered", "chameleon", "cora", "cora-ml", "citeseer", "minesweeper", "actor"),
    *("pubmed", "amazon-photo", "squirrel", "amazon-computers"),
)
FEW = tuple(f"{graph}@{labels}" for graph in ("cora", "citeseer", "amazon-computers") for labels in (5, 10))
"""Graphs with fewer labels per class for training."""
SPLITS = (0, 1, 2, 3, 4)
KEY = ("graph", "split", "model")


@dataclass(frozen=True)
class Chosen:
    """The settings that are best on validation nodes, and the scores of all nodes [N, C]."""

    settings: RunSettings
    val_accuracy: float
    scores: Tensor
    how: str = ""


@dataclass(frozen=True)
class Contestant:
    """``settings`` are those to choose from on a named graph; ``choose`` trains on a graph without test labels;
    ``rule`` says what else the choice depends on."""

    settings: Callable[[str], list[RunSettings]]
    choose: Callable[[PreparedGraph, list[RunSettings]], Chosen]
    rule: str = ""


def of_registry(name: str) -> Contestant:
    """A model whose candidates are trained one after another."""
    model = find_model(name)
    return Contestant(
        lambda graph: settings_to_try(model, graph), lambda graph, settings: best_of(model, graph, settings)
    )


def settings_to_try(model: Model[Any], graph: str) -> list[RunSettings]:
    """The preset of the graph, if there is one, and the candidates."""
    preset = model.preset(graph.partition("@")[0])
    return [*([] if preset is None else [preset]), *model.candidates()]


def best_of(model: Model[Any], graph: PreparedGraph, settings: list[RunSettings]) -> Chosen:
    """The first of those with the highest validation accuracy."""
    best: Chosen | None = None
    for one in settings:
        inputs = model.prepare(graph, one)
        fitted = model.fit(inputs, graph.data, one)
        if best is None or fitted.best.val_accuracy > best.val_accuracy:
            best = Chosen(one, fitted.best.val_accuracy, model.scores(fitted.module, inputs)[0])
    assert best is not None  # every model has a candidate
    return best


RIVALS = ("gcn", "gat", "appnp", "mlp", "linkx", "neighbour-boosting", "label-propagation")
LEVEL, GCN = "quick", find_model("gcn")


def portfolio(graph: str) -> list[RunSettings]:
    """What our search tries on a named graph."""
    return list(NCGNN.portfolio(PreparedGraph(divided(graph, 0))).values())


def searched(model: Model[Any], others: Sequence[Model[Any]], graph: PreparedGraph) -> Chosen:
    """The outcome of a search."""
    found = search(graph, model, LEVEL, rivals=others)
    scores = model.scores(found.fitted.module, model.prepare(graph, found.settings))[0]
    teachers = f", taught by {' and '.join(found.teachers)}" if found.teachers else ""
    return Chosen(found.settings, found.val_accuracy, scores, f"{found.name}{teachers}")


def as_command(graph: PreparedGraph, settings: list[RunSettings]) -> Chosen:
    """The outcome of our search, as of the command line."""
    return searched(NCGNN, rivals(NCGNN.name, of_search=True), graph)


RULE = f"{LEVELS[LEVEL]} {NEAR} {FEW_NODES} {LOSS_WEIGHT} version 2"  # to be raised when the search changes
SAME = "gcn-searched"
"""A GCN by the same procedure: several seeds, and one more that learns from them."""
CONTESTANTS: dict[str, Contestant] = {
    SAME: Contestant(lambda graph: settings_to_try(GCN, graph), lambda graph, settings: searched(GCN, (), graph), RULE),
    NCGNN.name: Contestant(portfolio, as_command, RULE),
    **{name: of_registry(name) for name in RIVALS},
}


def orders(graphs: Sequence[str], models: Sequence[str], splits: Sequence[int]) -> Iterator[tuple[str, int, str]]:
    """Graph, split and model: a split of all graphs before the next split."""
    yield from ((graph, split, model) for split in splits for graph in graphs for model in models)


def tried(graph: str, name: str) -> str:
    """A digest of the settings to choose from, so that rows are measured again once these are others."""
    contestant = CONTESTANTS[name]
    hashes = [settings.hash for settings in contestant.settings(graph)]
    return hashlib.sha256((" ".join(hashes) + contestant.rule).encode()).hexdigest()[:12]


def divided(graph: str, split: int) -> Data:
    """A graph with its usual split, or with so many labels per class, as in ``cora@5``."""
    name, _, labels = graph.partition("@")
    data = complete(load_dataset(name))
    return split_per_class(data, int(labels), 500, split) if labels else usual_split(data, split)


def measure(graph: str, split: int, name: str) -> Row:
    """Validation and test accuracy of what a contestant chooses, seed 0."""
    data = divided(graph, split)
    with use_threads(1), threadpool_limits(1):  # of torch and the kernels, and of scikit-learn
        where, start = machine(), process_time()
        chosen = _choose(graph, hide_test_labels(data), name)
        seconds = round(process_time() - start, 1)
    found = {"val_accuracy": round(chosen.val_accuracy, 6), "test_accuracy": _on_test_nodes(chosen.scores, data)}
    order = {"graph": graph, "split": split, "model": name, "tried": tried(graph, name)}
    return order | {"config": chosen.settings.hash} | found | {"cpu_seconds": seconds, "how": chosen.how} | where


def _choose(graph: str, data: Data, name: str) -> Chosen:
    contestant = CONTESTANTS[name]
    return contestant.choose(PreparedGraph.of_complete(data), contestant.settings(graph))


def _on_test_nodes(scores: Tensor, data: Data) -> float:
    return round(accuracy(scores, data.y, data.test_mask), 6)


def run(graphs: Sequence[str], models: Sequence[str], splits: Sequence[int]) -> None:
    """Measure what is missing; each row is stored at once."""
    for graph, split, name in orders(graphs, models, splits):
        wanted = {"graph": graph, "split": split, "model": name, "tried": tried(graph, name)}
        if not table.holds(table.read(RESULTS), wanted):
            row = measure(graph, split, name)
            table.keep(RESULTS, [row], KEY)
            print(graph, split, name, row["val_accuracy"], row["test_accuracy"], row["cpu_seconds"], flush=True)


def render(rows: list[Row], graphs: Sequence[str]) -> str:
    """Mean test accuracy of each model on the splits that all have, and how ours compares with the best other."""
    names = [NCGNN.name, *RIVALS, SAME]
    titles = [*(find_model(name).title for name in names[:-1]), "GCN, same search"]
    head = ["graph", "splits", *titles, "difference", "±", "verdict", "seconds"]
    lines, verdicts = [], []
    for graph in graphs:
        found: dict[str, dict[int, Row]] = {}
        for row in rows:
            if row["graph"] == graph:
                found.setdefault(row["model"], {})[row["split"]] = row
        if NCGNN.name not in found:
            continue
        line, verdict = _line({name: found.get(name, {}) for name in names})
        lines.append([graph, *line])
        verdicts.append(verdict)
    if not lines:
        return NOTHING
    counts = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in ("ahead", "level", "behind"))
    judged = len([kind for kind in verdicts if kind])
    return f"{markdown(head, lines)}\n\nOf {judged} graphs with at least two splits: {counts}. {made_on(rows)}"


def _line(found: dict[str, dict[int, Row]]) -> tuple[list[str], str]:
    own = found[NCGNN.name]
    full = {name: splits for name, splits in found.items() if set(own) <= set(splits)}
    means = {name: fmean(100 * splits[s]["test_accuracy"] for s in own) for name, splits in full.items()}
    cells = [f"{means[name]:.1f}" if name in means else "-" for name in found]
    seconds = f"{fmean(row['cpu_seconds'] for row in own.values()):.0f}"
    rivals = {name: mean for name, mean in means.items() if name in RIVALS}
    if not rivals:
        return [str(len(own)), *cells, "-", "-", "-", seconds], ""
    best = max(rivals, key=rivals.__getitem__)
    gaps = [100 * (own[s]["test_accuracy"] - full[best][s]["test_accuracy"]) for s in own]
    gap = fmean(gaps)
    if len(gaps) < 2:
        return [str(len(own)), *cells, f"{gap:+.1f}", "-", "-", seconds], ""
    half = float(t.ppf(0.975, len(gaps) - 1)) * stdev(gaps) / len(gaps) ** 0.5
    least = max(half, 0.5)
    verdict = "ahead" if gap > least else "behind" if gap < -least else "level"
    return [str(len(own)), *cells, f"{gap:+.1f}", f"{half:.1f}", verdict, seconds], verdict


def report() -> None:
    """Write the tables of the page from the stored rows, except for those of other settings or rules."""
    current = cache(tried)
    rows = [row for row in table.read(RESULTS) if str(row["tried"]) == current(row["graph"], row["model"])]
    text = PAGE.read_text("utf-8")
    for name, graphs in (("default", GRAPHS), ("few", FEW)):
        text = fill(text, name, render([row for row in rows if row["graph"] in graphs], graphs))
    with atomic(PAGE) as file:
        file.write(text)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, help="default: all 23")
    parser.add_argument("--models", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--splits", nargs="+", type=int, default=SPLITS)
    parser.add_argument("--report", action="store_true", help="run nothing; write the tables of docs/results.md")
    options = parser.parse_args(arguments)
    if options.report:
        report()
    else:
        run(options.graphs, options.models, options.splits)


if __name__ == "__main__":
    main()
