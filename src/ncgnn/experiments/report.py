"""What the stored runs say: a table for each table of the paper, margins over the controls, default against preset."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ncgnn.experiments.cells import CONTROLS, TABLES, Cell, all_cells, control_of, named_graphs, published
from ncgnn.experiments.protocol import fulfilled
from ncgnn.experiments.recipes import config_hash, recipe
from ncgnn.experiments.rows import Row
from ncgnn.experiments.statistics import Estimate, estimate, paired, units, verdict
from ncgnn.train.config import Config, preset

Value = str | int | float | None
Runs = Mapping[Cell, Sequence[Row]]
NOT_RUN = "not run yet"
RANDOM_SPLITS = ("3", "4", "6", "7")  # whose published means are over splits that nobody else has

_TITLES = {
    "3": "Table 3: citation graphs, 20 labels a class",
    "4": "Table 4: Amazon graphs, 20 labels a class",
    "5": "Table 5: disassortative graphs, ten published splits",
    "6": "Table 6: Syn-Cora, by homophily",
    "7": "Table 7: Amazon Computers, by labels a class",
    "extra": "Extra: graphs without a published number",
    "default": "The library's default settings",
}


@dataclass(frozen=True)
class Table:
    """Something to print; ``name`` is that of its file."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: list[list[Value]]


def counted(rows: Iterable[Row]) -> Runs:
    """The rows of each cell that were run with its present settings."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[(*row.key[:4], row.config_hash)].append(row)
    hashes = {cell: config_hash(settings) for cell in all_cells() if (settings := recipe(cell)) is not None}
    keys = {cell: (cell.table, cell.dataset, cell.setting, cell.model, hash) for cell, hash in hashes.items()}
    return {cell: found[key] for cell, key in keys.items() if key in found}


def tables(runs: Runs, cells: Iterable[Cell] | None = None) -> list[Table]:
    """One table for each table of the paper that has a cell among ``cells``; all by default."""
    chosen = set(all_cells() if cells is None else cells)
    groups = {table: [cell for cell in all_cells() if cell in chosen and cell.table == table] for table in TABLES}
    return [_table(table, group, runs) for table, group in groups.items() if group]


def _table(table: str, cells: Sequence[Cell], runs: Runs) -> Table:
    columns = ("dataset", "setting", "model", "runs", "splits", "protocol", "accuracy", "±", "published", "difference")
    has_area = table == "extra"
    rows = [_line(cell, runs.get(cell, ())) + ([_area(cell, runs.get(cell, ()))] if has_area else []) for cell in cells]
    name = f"table{table}" if table.isdecimal() else table
    return Table(name, _TITLES[table], (*columns, "verdict", *(["roc_auc"] if has_area else [])), rows)


def _line(cell: Cell, rows: Sequence[Row]) -> list[Value]:
    theirs = published().get(cell)
    if not rows:
        return [cell.dataset, cell.setting, cell.model, 0, 0, None, None, None, theirs, None, NOT_RUN]
    ours = estimate(list(units(rows, unit_of(cell)).values()))
    splits = len({row.split for row in rows})
    protocol = fulfilled(cell, {(int(row.split), int(row.seed)) for row in rows}) or "partial"
    start: list[Value] = [cell.dataset, cell.setting, cell.model, len(rows), splits, protocol, ours.mean, ours.half]
    if theirs is None:
        return [*start, None, None, None]
    return [*start, theirs, ours.mean - theirs, verdict(ours, theirs, cell.table in RANDOM_SPLITS) or "no interval"]


def _area(cell: Cell, rows: Sequence[Row]) -> Value:
    with_area = [row for row in rows if row.roc_auc]
    return estimate(list(units(with_area, unit_of(cell), "roc_auc").values())).mean if with_area else None


def unit_of(cell: Cell) -> Literal["split", "seed"]:
    """Over what a cell's interval goes."""
    return "seed" if cell.is_synthetic else "split"


def margins(runs: Runs) -> Table:
    """NCGNN minus each control on the same splits, beside the same difference in the paper."""
    columns = [name for control in CONTROLS for name in (f"over {control}", "±", "paper")]
    cells = [cell for cell in all_cells() if cell.model in ("NCGNN-A", "NCGNN-D")]
    rows = [
        [cell.dataset, cell.setting, cell.model, *(v for control in CONTROLS for v in _margin(cell, control, runs))]
        for cell in cells
    ]
    return Table("margins", "Margins over the controls", ("dataset", "setting", "model", *columns), rows)


def _margin(cell: Cell, control: str, runs: Runs) -> list[Value]:
    other, numbers = control_of(cell, control), published()
    paper = numbers[cell] - numbers[other] if cell in numbers and other in numbers else None
    return [*_shown(_difference(cell, other, runs)), paper]


def _difference(cell: Cell, other: Cell, runs: Runs) -> Estimate | None:
    ours, theirs = (units(runs.get(c, ()), unit_of(cell)) for c in (cell, other))
    return paired(ours, theirs)


def _shown(found: Estimate | None) -> tuple[Value, Value]:
    return (NOT_RUN, None) if found is None else (found.mean, found.half)


def defaults(runs: Runs) -> Table:
    """What a graph's own settings gain over the default ones, on the same splits."""
    rows: list[list[Value]] = []
    for graph in named_graphs():
        default, own = Cell("default", graph, _setting(graph), "NCGNN default"), preset_cell(graph)
        means = [_shown(_mean(runs.get(cell, ()))) for cell in (default, own)]
        rows.append([graph, *means[0], *means[1], *_shown(_difference(own, default, runs))])
    columns = ("dataset", "default", "±", "preset", "±", "preset minus default", "±")
    return Table("default-preset", "Default settings against presets, NCGNN-A", columns, rows)


def _mean(rows: Sequence[Row]) -> Estimate | None:
    return estimate(list(units(rows, "split").values())) if rows else None


def _setting(graph: str) -> str:
    return next(cell.setting for cell in all_cells() if cell.table == "default" and cell.dataset == graph)


def preset_cell(graph: str) -> Cell:
    """The cell that runs NCGNN-A with a graph's preset as it is."""
    farthest = max(Config.make(preset(graph)).hop_set)
    mine = [cell for cell in all_cells() if cell.dataset == graph and cell.model == "NCGNN-A"]
    in_sweep = [cell for cell in mine if cell.hops == farthest]
    return in_sweep[0] if in_sweep else mine[0]
