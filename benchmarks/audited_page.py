"""The blocks of docs/explanations.md about audits, from the CSV files in results/audits."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import NOTHING, fill, made_on, markdown, number
from benchmarks.table import Row, read
from ncgnn.explain.quality import OURS, SORTED, SPARSITIES
from ncgnn.explain.quality.auditing import ENDS
from ncgnn.files import atomic

Array = np.ndarray[Any, Any]

DRAWS = 5000
SHORT = {
    "rank correlation, neighbours": "rank correlation, neighbours",
    "rank correlation, features": "rank correlation, features",
    "agreement, neighbours": "agreement, neighbours",
    "agreement, features": "agreement, features",
    "hidden, neighbours": "hidden, neighbours",
    "hidden, features": "hidden, features",
    "slope, neighbours": "slope, neighbours",
    "slope, features": "slope, features",
    "self-consistency": "self-consistency",
    "robust fidelity+": "robust fidelity+",
    "robust fidelity-": "robust fidelity-",
    "agreement between seeds": "seeds",
}
TRUTHS = ("precision", "recall", "AUC")


def write(page: Path, results: Path) -> None:
    text = render(page.read_text("utf-8"), results)
    with atomic(page) as file:
        file.write(text)


def render(page: str, results: Path) -> str:
    rows = {file.stem.removeprefix("nodes-"): read(file) for file in sorted(results.glob("nodes-*.csv"))}
    blocks = {"audit": models(read(results / "models.csv")), "compared": compared(rows), "known": known(rows)}
    for name, block in blocks.items():
        page = fill(page, name, block)
    return page


def models(rows: list[Row]) -> str:
    """The audit of each model, and its verdict."""
    table = []
    for model in dict.fromkeys(row["model"] for row in rows):
        found = {row["measure"]: row["value"] for row in rows if row["model"] == model}
        table.append([model, *(_shown(found, name) for name in SHORT), found["verdict"].partition(":")[0].rstrip(".")])
    return f"{markdown(['model', *SHORT.values(), 'verdict'], table)}\n\n{made_on(rows)}" if rows else NOTHING


def _shown(found: Row, name: str) -> str:
    """A value, with its interval where there is one."""
    if found.get(name, "") == "":
        return "-"
    ends = [found[bound] for end in ENDS if (bound := f"{name}, {end} bound") in found]
    return f"{found[name]:.2f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")


def compared(graphs: dict[str, list[Row]]) -> str:
    """A table for each graph, and in how many of them no method is surely ahead of the contributions."""
    blocks, verdicts = [], []
    for graph, rows in graphs.items():
        lines = [Line(method, rows) for method in dict.fromkeys(row["method"] for row in rows)]
        lines.sort(key=lambda line: -line.characterisation)
        head = ["method", "nodes", "characterisation", "contributions in turn ahead by", "seconds", "times as long"]
        blocks.append(f"**{graph}**\n\n{markdown(head, [line.cells() for line in lines])}")
        verdicts.append(_verdict(graph, lines))
    every = [row for rows in graphs.values() for row in rows]
    summary = markdown(["graph", "ahead of", "tied with", "behind", "quickest of those as good"], verdicts)
    return "\n\n".join([summary, *blocks, made_on(every)]) if blocks else NOTHING


class Line:
    """One method on one graph, beside the contributions on the same nodes."""

    def __init__(self, method: str, rows: list[Row]) -> None:
        mine, ours = ({row["node"]: row for row in rows if row["method"] == name} for name in (method, OURS))
        nodes = [node for node in mine if node in ours]
        effects, of_ours = (_effects([found[node] for node in nodes]) for found in (mine, ours))
        drawn = np.random.default_rng(0).integers(len(nodes), size=(DRAWS, len(nodes)))
        ahead = characterisation(of_ours[drawn]) - characterisation(effects[drawn])
        self.method, self.nodes = method, len(nodes)
        self.characterisation = float(characterisation(effects))
        self.ahead = float(characterisation(of_ours)) - self.characterisation
        self.low, self.high = np.percentile(ahead, [2.5, 97.5])
        self.seconds, of_us = (float(np.mean([found[node]["seconds"] for node in nodes])) for found in (mine, ours))
        self.times = self.seconds / of_us

    @property
    def is_ours(self) -> bool:
        return self.method in (OURS, SORTED)

    def cells(self) -> list[str]:
        difference = "" if self.method == OURS else f"{self.ahead:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"
        shown = f"{self.characterisation:.3f}", difference, number(self.seconds), f"{self.times:.3g}"
        return [self.method, str(self.nodes), *shown]


def _effects(rows: list[Row]) -> Array:
    """Whether the class changes without the explanation, and with it alone [nodes, 2, sparsities]."""
    names = [[f"{name} {sparsity}" for sparsity in SPARSITIES] for name in ("fidelity+", "fidelity-")]
    return np.array([[[row[name] for name in side] for side in names] for row in rows], dtype=float)


def characterisation(effects: Array) -> Array:
    """Harmonic mean of fidelity+ and 1 - fidelity-, of effects [..., nodes, 2, sparsities]; mean over sparsities."""
    plus, minus = np.moveaxis(effects.mean(axis=-3), -2, 0)
    both = plus + 1 - minus
    score: Array = (2 * plus * (1 - minus) / np.where(both > 0, both, 1)).mean(axis=-1)
    return score


def _verdict(graph: str, lines: list[Line]) -> list[str]:
    others = [line for line in lines if not line.is_ours]
    ahead = [line for line in others if line.low > 0]
    behind = [line for line in others if line.high < 0]
    as_good = [line for line in others if line not in ahead]
    quickest = min(as_good, key=lambda line: line.times, default=None)
    words = "-" if quickest is None else f"{quickest.method}, {quickest.times:.3g} times as long"
    counts = (str(len(found)) for found in (ahead, [line for line in as_good if line not in behind]))
    return [graph, *counts, ", ".join(line.method for line in behind) or "-", words]


def known(graphs: dict[str, list[Row]]) -> str:
    """How well each method finds the reasons where they are known."""
    table = []
    for graph, rows in graphs.items():
        told = [row for row in rows if row["AUC"] != ""]
        for method in dict.fromkeys(row["method"] for row in told):
            mine = [row for row in told if row["method"] == method]
            means = (f"{np.mean([row[name] for row in mine]):.3f}" for name in TRUTHS)
            table.append([graph, method, str(len(mine)), *means])
    return markdown(["graph", "method", "nodes", *TRUTHS], table) if table else NOTHING
