"""Margins of NCGNN over its controls on the same splits, with the same differences between published numbers."""

from ncgnn.experiments.cells import (
    CONTROLS,
    EXTENDED,
    GCN,
    GCN_EXTENDED,
    GCN_TUNED,
    MLP,
    NCGNN_A,
    NCGNN_D,
    Cell,
    all_cells,
    best_gcn,
    control_of,
    published,
)
from ncgnn.experiments.statistics import NOT_RUN, Estimate, Table, Value, paired, shown_estimate, units, verdict
from ncgnn.experiments.valid_runs import Runs, unit_of

_WORST_FIRST = (NOT_RUN, "no interval", "below", "equal", "above")


def margin(cell: Cell, other: Cell, runs: Runs) -> Estimate | None:
    """The mean difference on the splits both were run on."""
    ours, theirs = (units(runs.get(one, ()), unit_of(cell)) for one in (cell, other))
    return paired(ours, theirs)


def margin_of_model(cell: Cell, runs: Runs) -> list[Value]:
    """The margin over a GCN that was chosen and trained in the same way: searched for the paper's models, with the same
    teachers for the extended ones. Empty for other models."""
    if cell.model not in (*EXTENDED, *EXTENDED.values()):
        return [None, None]
    control = GCN_TUNED if cell.model in EXTENDED else GCN_EXTENDED
    return list(shown_estimate(margin(cell, control_of(cell, control), runs)))


def published_margin(cell: Cell, other: Cell) -> float | None:
    numbers = published()
    return numbers[cell] - numbers[other] if cell in numbers and other in numbers else None


def margins(runs: Runs) -> Table:
    """Margins over each control; in table 3, the GCN has as many layers as NCGNN has hops. The GCN that had the same
    training and teachers is the control of the extended model."""
    columns = [name for control in CONTROLS for name in margin_columns(control)]
    cells = [cell for cell in all_cells() if cell.model in (*EXTENDED, *EXTENDED.values()) and cell.has_controls]
    rows = [_line(cell, [control_of(cell, control) for control in CONTROLS], runs) for cell in cells]
    return Table("margins", "Margins over the controls", ("dataset", "setting", "model", *columns), rows)


def depth_margins(runs: Runs) -> Table:
    """Margins of the last columns of table 3 over the two-layer GCN and over the GCN of the best depth in the paper."""
    rows = []
    for cell in headline_cells():
        if cell.table == "3":
            usual, best = Cell("3", cell.dataset, "hops=2", GCN), best_gcn(cell.dataset)
            rows.append([*_line(cell, [usual, best], runs), best.hops])
    columns = (*margin_columns("GCN of 2 layers"), *margin_columns("GCN of its best depth"), "that depth")
    title = "Table 3: margins over GCN of two layers and of its best published depth"
    return Table("margins-depth", title, ("dataset", "setting", "model", *columns), rows)


def margin_columns(control: str) -> tuple[str, str, str]:
    return f"over {control}", f"± over {control}", f"over {control} in the paper"


def headline_cells() -> list[Cell]:
    """The main NCGNN cells on the citation and Amazon graphs: NCGNN-A with all hops, and NCGNN-D."""
    cells = [cell for cell in all_cells() if cell.table in ("3", "4")]
    return [cell for cell in cells if cell.model == NCGNN_D or (cell.model == NCGNN_A and cell.hops in (5, None))]


def synthetic_margins(cell: Cell, runs: Runs) -> list[Value]:
    """Margins of a Syn-Cora cell over GCN and MLP, ours with its interval and the paper's, then the worse verdict.

    The paper's graphs may differ from ours, so accuracies say less than margins on the same graphs.
    """
    values: list[Value] = []
    verdicts = []
    for other in (control_of(cell, GCN), control_of(cell, MLP)):
        ours, paper = margin(cell, other, runs), published_margin(cell, other)
        assert paper is not None  # the paper has both controls on every Syn-Cora graph
        values += [*shown_estimate(ours), paper]
        verdicts.append(NOT_RUN if ours is None else verdict(ours, paper, is_on_other_splits=True) or "no interval")
    return [*values, min(verdicts, key=_WORST_FIRST.index)]


def _line(cell: Cell, others: list[Cell], runs: Runs) -> list[Value]:
    out: list[Value] = [cell.dataset, cell.setting, cell.model]
    for other in others:
        out += [*shown_estimate(margin(cell, other, runs)), published_margin(cell, other)]
    return out
