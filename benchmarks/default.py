"""Models without settings of a user's own, on many graphs: results/default/rows.csv.

``python -m benchmarks.default`` runs what is missing and can be interrupted and resumed at any time. A model tries its
candidates, and its preset for the graph if it has one; the best on validation nodes is chosen while test labels are
hidden, and tested once. NCGNN is what ``ncgnn train`` gives for a graph without a preset: the outcome of its search.
"""

import argparse
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, cast

from threadpoolctl import threadpool_limits
from torch import Tensor
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.table import Row
from ncgnn.compare import rivals
from ncgnn.data import complete, load_dataset, split_per_class, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.models import Model, PreparedGraph, RunSettings, find_model
from ncgnn.models.ncgnn import MODEL as NCGNN
from ncgnn.models.ncgnn import Config
from ncgnn.provenance import machine
from ncgnn.search import LEVELS, search
from ncgnn.search.attempts import LOSS_WEIGHT
from ncgnn.search.rounds import FEW as FEW_NODES
from ncgnn.search.rounds import NEAR
from ncgnn.train.epoch import accuracy
from ncgnn.train.reproducible import use_threads

RESULTS = Path(__file__).parents[1] / "results/default/rows.csv"
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
    """``settings`` are those to choose from on a named graph; ``choose`` trains on a graph without test labels. What
    else the choice depends on is told by ``rule``."""

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
LEVEL = "quick"


def portfolio(graph: str) -> list[RunSettings]:
    """What our search tries on a named graph."""
    return list(NCGNN.portfolio(PreparedGraph(divided(graph, 0))).values())


def searched(graph: PreparedGraph, settings: list[RunSettings]) -> Chosen:
    """The outcome of our search, as of the command line."""
    others = [other for other in rivals(NCGNN.name) if other.knows != "features"]
    found = search(graph, NCGNN, LEVEL, rivals=others)
    scores = NCGNN.scores(found.fitted.module, NCGNN.prepare(graph, cast(Config, found.settings)))[0]
    teachers = f", taught by {' and '.join(found.teachers)}" if found.teachers else ""
    return Chosen(found.settings, found.val_accuracy, scores, f"{found.name}{teachers}")


CONTESTANTS: dict[str, Contestant] = {
    NCGNN.name: Contestant(portfolio, searched, f"{LEVELS[LEVEL]} {NEAR} {FEW_NODES} {LOSS_WEIGHT}"),
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


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, help="default: all 23")
    parser.add_argument("--models", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--splits", nargs="+", type=int, default=SPLITS)
    options = parser.parse_args(arguments)
    run(options.graphs, options.models, options.splits)


if __name__ == "__main__":
    main()
