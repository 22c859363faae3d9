"""NCGNN against its rivals, graph by graph: paired tests with correction for many comparisons."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Literal

import numpy as np
from scipy.stats import ttest_rel

from ncgnn.experiments.cells import (
    BASELINES,
    BOOSTED,
    EXTENDED,
    GCN,
    MLP,
    NCGNN_A,
    PRACTICAL,
    TODAY,
    TUNED,
    Cell,
    all_cells,
    best_gcn,
    own_choice,
)
from ncgnn.experiments.statistics import Estimate, paired, units
from ncgnn.experiments.valid_runs import Runs, unit_of

LEVEL = 0.05
_FARTHEST = 5  # the column of table 3 with all hops of NCGNN-A
Outcome = Literal["win", "tie", "loss"]


def _with_tuned(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(model for name in names for model in (name, TUNED[name]))


GROUPS = {
    "the paper's baselines": _with_tuned((MLP, GCN, *BASELINES)),
    "today's rivals": _with_tuned(TODAY),
    "boosting with neighbour features": _with_tuned((BOOSTED,)),
    "other models without a GNN": _with_tuned(name for name in PRACTICAL if name != BOOSTED),
}
"""Rivals by where they come from, each with published and with tuned settings."""


@dataclass(frozen=True)
class Contest:
    """NCGNN against a rival on a graph.

    Attributes:
        graph: its name.
        rival: its name.
        gap: NCGNN minus rival, in points.
        p: of the paired t-test over splits (on Syn-Cora, over seeds), corrected.
    """

    graph: str
    rival: str
    gap: Estimate
    p: float

    @property
    def outcome(self) -> Outcome:
        if self.p >= LEVEL:
            return "tie"
        return "win" if self.gap.mean > 0 else "loss"


@cache
def columns() -> Mapping[str, Mapping[str, Cell]]:
    """The cells of each graph of tables 3 to 6, by model: those with the model's own number of hops."""
    found: dict[str, dict[str, Cell]] = defaultdict(dict)
    for cell in all_cells():
        if cell.table in "3456" and _is_own(cell):
            found[cell.graph][cell.model] = cell
    return found


def _is_own(cell: Cell) -> bool:
    if cell.table != "3" or cell.setting == own_choice(cell):
        return True
    if cell.model == GCN:
        return cell == best_gcn(cell.dataset)
    return cell.model in (NCGNN_A, EXTENDED[NCGNN_A]) and cell.hops == _FARTHEST


def best_on_validation(cells: Iterable[Cell], runs: Runs) -> Cell | None:
    """The cell with the highest mean validation accuracy; None if none was run."""
    known = [cell for cell in cells if cell in runs]
    return max(known, key=lambda cell: fmean(float(row.val_accuracy) for row in runs[cell]), default=None)


def own_cell(graph: str, runs: Runs) -> Cell | None:
    """The paper's model of a graph: of NCGNN-A and NCGNN-D, the one with the higher validation accuracy."""
    return best_on_validation((cell for model, cell in columns()[graph].items() if model in EXTENDED), runs)


def with_each(names: Sequence[str], runs: Runs) -> list[Contest]:
    """Against each of the models on each graph; corrected for the number of models on the graph."""
    found = []
    for graph, cells in columns().items():
        found += corrected(_contests(graph, [cells[name] for name in names if name in cells], runs))
    return found


def with_best(names: Sequence[str], runs: Runs) -> list[Contest]:
    """Against the best of the models on each graph, chosen on validation nodes; corrected for the number of graphs."""
    found = []
    for graph, cells in columns().items():
        best = best_on_validation((cells[name] for name in names if name in cells), runs)
        found += _contests(graph, [best] if best else [], runs)
    return corrected(found)


def _contests(graph: str, rivals: Iterable[Cell], runs: Runs) -> list[Contest]:
    own = own_cell(graph, runs)
    if own is None:
        return []
    pairs = ((rival.model, _paired(own, rival, runs)) for rival in rivals)
    return [Contest(graph, name, *pair) for name, pair in pairs if pair is not None]


def _paired(one: Cell, other: Cell, runs: Runs) -> tuple[Estimate, float] | None:
    """The mean difference and p of the paired t-test on what both were run on; None for less than two pairs."""
    ours, theirs = (units(runs.get(cell, ()), unit_of(cell)) for cell in (one, other))
    common = sorted(set(ours) & set(theirs))
    gap = paired(ours, theirs)
    if gap is None or len(common) < 2:
        return None
    differences = np.array([ours[unit] - theirs[unit] for unit in common])
    if np.ptp(differences) == 0:  # the test is undefined
        return gap, float(differences[0] == 0)
    return gap, float(ttest_rel([ours[u] for u in common], [theirs[u] for u in common]).pvalue)


def corrected(contests: Sequence[Contest]) -> list[Contest]:
    """With the p of Holm's method, in the same order."""
    adjusted = holm([contest.p for contest in contests])
    return [Contest(one.graph, one.rival, one.gap, p) for one, p in zip(contests, adjusted, strict=True)]


def holm(values: Sequence[float]) -> list[float]:
    """Adjusted p values: the smallest times their number, the next times one less, and so on, never decreasing."""
    out, highest = [0.0] * len(values), 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - place) * values[index]))
        out[index] = highest
    return out


def clearly_best(cells: Iterable[Cell], runs: Runs) -> set[Cell]:
    """Of the cells of each table with the same graph and setting, the one with the highest mean, if it is significantly
    better than each of the others, corrected for their number."""
    columns: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell in runs:
            columns[cell.table, cell.dataset, cell.setting].append(cell)
    return {best for found in columns.values() if (best := _clearly_best(found, runs)) is not None}


def _clearly_best(cells: Sequence[Cell], runs: Runs) -> Cell | None:
    best = max(cells, key=lambda cell: fmean(units(runs[cell], unit_of(cell)).values()))
    pairs = [_paired(best, other, runs) for other in cells if other != best]
    found = [pair[1] for pair in pairs if pair is not None]
    return best if found and len(found) == len(pairs) and max(holm(found)) < LEVEL else None
