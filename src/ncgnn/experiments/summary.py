"""The report in a few numbers."""

from collections import Counter

from ncgnn.experiments.cells import (
    EXTENDED,
    GCN,
    GCN_EXTENDED,
    NCGNN_A,
    NCGNN_D,
    Cell,
    all_cells,
    best_gcn,
    control_of,
    extended,
    goal,
    published,
)
from ncgnn.experiments.margins import headline_cells, margin, published_margin
from ncgnn.experiments.report import default_gap, judged
from ncgnn.experiments.statistics import NOT_RUN, Table, Value, estimate, units
from ncgnn.experiments.valid_runs import Runs, unit_of

_CLOSE = 2.0  # the default settings should be within this many points of a graph's preset


def summary(runs: Runs) -> Table:
    """Summary of the comparison of NCGNN's cells with the published numbers."""
    cells = [cell for cell in all_cells() if cell in published() and cell.model in EXTENDED]
    rows: list[list[Value]] = [["cells with a published number", str(len(cells))], *_against_paper(cells, runs)]
    others = [extended(cell) for cell in cells]
    rows += [[f"extended: {what}", found] for what, found in _against_paper(others, runs)]
    rows.append(["extended: mean above a GCN trained in the same way", _above_gcn(others, runs)])
    for model in (NCGNN_A, NCGNN_D):
        rows.append([f"margin of {model} over GCN at least the paper's", _margins_reached(model, runs)])
    rows.append([f"default settings within {_CLOSE:g} points of the preset", _defaults_close(runs)])
    return Table("summary", "Summary", ("what", "how many"), rows)


def _against_paper(cells: list[Cell], runs: Runs) -> list[list[Value]]:
    verdicts = Counter(judged(cell, runs) for cell in cells)
    names = ("above", "equal", "below", "no interval", NOT_RUN)
    counts: list[list[Value]] = [[f"verdict: {name}", str(verdicts[name])] for name in names]
    return [*counts, ["means above the published number", _means_above(cells, runs)]]


def _above_gcn(cells: list[Cell], runs: Runs) -> str:
    gaps = [margin(cell, control_of(cell, GCN_EXTENDED), runs) for cell in cells]
    run = [gap for gap in gaps if gap is not None]
    return f"{sum(gap.mean > 0 for gap in run)} of {len(run)} cells run"


def _means_above(cells: list[Cell], runs: Runs) -> str:
    run = [cell for cell in cells if cell in runs]
    above = [c for c in run if estimate(list(units(runs[c], unit_of(c)).values())).mean > (goal(c) or 0)]
    return f"{len(above)} of {len(run)} cells run"


def _margins_reached(model: str, runs: Runs) -> str:
    """On the citation and Amazon graphs; on citation graphs, the GCN has the best depth in the paper."""
    return _named({cell.dataset: _reaches(cell, runs) for cell in headline_cells() if cell.model == model})


def _reaches(cell: Cell, runs: Runs) -> bool | None:
    other = best_gcn(cell.dataset) if cell.table == "3" else control_of(cell, GCN)
    ours, paper = margin(cell, other, runs), published_margin(cell, other)
    return None if ours is None or paper is None else ours.mean >= paper


def _defaults_close(runs: Runs) -> str:
    gaps = default_gap(runs)
    return _named({graph: None if gap is None else gap.mean <= _CLOSE for graph, gap in gaps.items()})


def _named(reached: dict[str, bool | None]) -> str:
    """The number of graphs on which the goal was reached, and the graphs on which it was not."""
    run = [value for value in reached.values() if value is not None]
    text = f"{sum(run)} of {len(run)} graphs run"
    words = ((False, "missed on"), (None, NOT_RUN))
    lists = [(word, [graph for graph, value in reached.items() if value is kind]) for kind, word in words]
    return "; ".join([text, *(f"{word}: {', '.join(graphs)}" for word, graphs in lists if graphs)])
