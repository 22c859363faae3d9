"""Models without settings of a user's own, on many graphs: results/default/rows.csv.

``python -m benchmarks.default`` runs what is missing and can be interrupted and resumed at any time. A model tries its
candidates, and its preset for the graph if it has one; the best on validation nodes is chosen while test labels are
hidden, and tested once. NCGNN is what ``ncgnn train`` gives for a graph without a preset: the outcome of its search.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
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
from ncgnn.text import several
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
TAUGHT = ", taught by "
DIRECTED = "texas"
"""A graph with directed edges, for which there are all settings to try."""


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
    teachers = f"{TAUGHT}{' and '.join(found.teachers)}" if found.teachers else ""
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


@dataclass(frozen=True)
class Compared:
    """Our accuracies and those of the others on the splits that ours were measured on, by model, in points."""

    found: dict[str, dict[int, float]]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Compared":
        """Of the rows of one graph; models that lack one of our splits are left out."""
        found: dict[str, dict[int, float]] = {NCGNN.name: {}}
        for row in rows:
            found.setdefault(row["model"], {})[row["split"]] = 100 * row["test_accuracy"]
        own = found[NCGNN.name]
        return cls({name: {s: runs[s] for s in own} for name, runs in found.items() if own and set(own) <= set(runs)})

    @property
    def own(self) -> dict[int, float]:
        return self.found.get(NCGNN.name, {})

    @property
    def means(self) -> dict[str, float]:
        return {name: fmean(runs.values()) for name, runs in self.found.items()}

    @property
    def gaps(self) -> list[float]:
        """On each split, our lead over the rival that is best on average."""
        rivals = {name: mean for name, mean in self.means.items() if name in RIVALS}
        if not rivals:
            return []
        best = self.found[max(rivals, key=rivals.__getitem__)]
        return [value - best[split] for split, value in self.own.items()]

    @property
    def half(self) -> float:
        """Half the width of the 95 % interval of the lead."""
        gaps = self.gaps
        return float(t.ppf(0.975, len(gaps) - 1)) * stdev(gaps) / sqrt(len(gaps))

    @property
    def verdict(self) -> str:
        """``level`` within half a point of the best rival, or inside the interval; empty with fewer than two splits."""
        if len(self.gaps) < 2:
            return ""
        gap, least = fmean(self.gaps), max(self.half, 0.5)
        return "ahead" if gap > least else "behind" if gap < -least else "level"


def render(rows: list[Row], graphs: Sequence[str]) -> str:
    """Mean test accuracy of each model on the splits that all have, and how ours compares with the best other."""
    names = [NCGNN.name, *RIVALS, SAME]
    titles = [*(find_model(name).title for name in names[:-1]), "GCN, same search"]
    head = ["graph", "splits", *titles, "difference", "±", "verdict", "seconds"]
    found = _by_graph(rows, graphs)
    if not found:
        return NOTHING
    lines = [[graph, *_line(one, names), _seconds(rows, graph)] for graph, one in found.items()]
    missing = [
        f"{title} ({several(len(lacking), 'graph')})"
        for name, title in zip(names, titles, strict=True)
        if (lacking := [graph for graph, one in found.items() if name not in one.found])
    ]
    said = [count(found)]
    if missing:
        said.append(f"Not measured on all of these splits, and left out there: {', '.join(missing)}.")
    later = _by_graph([row for row in rows if row["split"] > 0], graphs)
    if any(one.verdict for one in later.values()):
        said.append(f"Without split 0: {count(later)}")
    return "\n\n".join([markdown(head, lines), *said, made_on(rows)])


def _by_graph(rows: Sequence[Row], graphs: Sequence[str]) -> dict[str, Compared]:
    """The graphs on which ours was measured."""
    found = {graph: Compared.of([row for row in rows if row["graph"] == graph]) for graph in graphs}
    return {graph: one for graph, one in found.items() if one.own}


def _line(one: Compared, names: Sequence[str]) -> list[str]:
    gaps = one.gaps
    lead = [f"{fmean(gaps):+.1f}" if gaps else "-", f"{one.half:.1f}" if len(gaps) > 1 else "-", one.verdict or "-"]
    return [str(len(one.own)), *(f"{one.means[name]:.1f}" if name in one.means else "-" for name in names), *lead]


def _seconds(rows: Sequence[Row], graph: str) -> str:
    own = (row["cpu_seconds"] for row in rows if row["graph"] == graph and row["model"] == NCGNN.name)
    return f"{fmean(own):.0f}"


def count(found: dict[str, Compared]) -> str:
    """On how many graphs ours is as good as the best rival, and on which it is more than two points behind."""
    judged = {graph: one for graph, one in found.items() if one.verdict}
    kinds = [one.verdict for one in judged.values()]
    good, apart = len(judged) - kinds.count("behind"), [g for g, one in judged.items() if fmean(one.gaps) < -2]
    clear = [graph for graph in apart if judged[graph].verdict == "behind"]
    inside = [graph for graph in apart if graph not in clear]
    return (
        f"Of {len(judged)} graphs with at least two splits, NCGNN is at least level with the best other model on {good}"
        f" ({kinds.count('ahead')} ahead, {kinds.count('level')} level) and behind on {kinds.count('behind')}. It is"
        f" clearly behind by more than two points on {_listed(clear)}; the difference is as large, but inside its"
        f" interval, on {_listed(inside)}."
    )


def _listed(graphs: Sequence[str]) -> str:
    return f"{len(graphs)} ({', '.join(graphs)})" if graphs else "0"


def winners(rows: Sequence[Row]) -> str:
    """Where each of our settings won the search, with the number of splits, and how often a student did."""
    own = [row for row in rows if row["model"] == NCGNN.name]
    if not own:
        return NOTHING
    found: dict[str, Counter[str]] = {name: Counter() for name in NCGNN.portfolio(PreparedGraph(divided(DIRECTED, 0)))}
    for row in own:
        found[row["how"].partition(TAUGHT)[0]][row["graph"]] += 1
    lines = [[name, ", ".join(f"{graph} ({n})" for graph, n in won.items()) or "-"] for name, won in found.items()]
    said = f"A student was chosen in {sum(TAUGHT in row['how'] for row in own)} of {len(own)} searches."
    return f"{markdown(['settings', 'chosen on (splits)'], lines)}\n\n{said}"


def report() -> None:
    """Write the tables of the page from the stored rows, except for those of other settings or rules."""
    current = cache(tried)
    rows = [row for row in table.read(RESULTS) if str(row["tried"]) == current(row["graph"], row["model"])]
    text = PAGE.read_text("utf-8")
    for name, graphs in (("default", GRAPHS), ("few", FEW)):
        text = fill(text, name, render([row for row in rows if row["graph"] in graphs], graphs))
    text = fill(text, "winners", winners([row for row in rows if row["graph"] in GRAPHS]))
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
