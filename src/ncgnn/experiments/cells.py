"""The cells of the paper's tables 3 to 7, their controls, and the published numbers."""

import csv
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from ncgnn.data import DATASETS
from ncgnn.data.named.registry import SYN_CORA

TABLES = ("3", "4", "5", "6", "7", "extra", "default")
NCGNN_A, NCGNN_D, NCGNN_DEFAULT = "NCGNN-A", "NCGNN-D", "NCGNN default"
GCN, GCN_TUNED, GCN_EXTENDED, MLP = "GCN", "GCN tuned", "GCN extended", "MLP"
EXTENDED = {NCGNN_A: "NCGNN-A extended", NCGNN_D: "NCGNN-D extended"}
"""The paper's models, and the same with what this library adds: groups of capsules, teachers, averaged weights."""
CONTROLS = (GCN, GCN_TUNED, GCN_EXTENDED, MLP)
MODELS = (NCGNN_A, NCGNN_D, *EXTENDED.values(), NCGNN_DEFAULT, *CONTROLS)
EXTRA = tuple(info.name for info in DATASETS.values() if info.is_extra)

_OWN_CHOICE = "hops=best"  # models of table 3 that are not run for every number of hops


@dataclass(frozen=True)
class Cell:
    """One number of a table. ``dataset`` and ``setting`` are spelled as in the table of published numbers."""

    table: str
    dataset: str
    setting: str
    model: str

    @property
    def graph(self) -> str:
        """The name for :func:`ncgnn.load_dataset`."""
        return f"{self.dataset}:{self.setting.removeprefix('h=')}" if self.is_synthetic else self.dataset

    @property
    def hops(self) -> int | None:
        """The number of hops of a column of table 3; None if the settings determine it."""
        value = self.setting.removeprefix("hops=")
        return int(value) if value.isdecimal() else None

    @property
    def is_synthetic(self) -> bool:
        return self.dataset == SYN_CORA

    def __str__(self) -> str:
        return f"{self.dataset}, {self.setting}, {self.model}"


@cache
def published() -> dict[Cell, float]:
    """The paper's accuracies in percent: of NCGNN, GCN and MLP."""
    text = (resources.files("ncgnn.experiments") / "published.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {Cell(r["table"], r["dataset"], r["setting"], r["model"]): float(r["accuracy"]) for r in rows}


@cache
def all_cells() -> tuple[Cell, ...]:
    """All cells, in the order of the tables."""
    ours = [cell for cell in published() if cell.model in EXTENDED]
    extra = [Cell("extra", name, setting_of(name), NCGNN_A) for name in EXTRA]
    controls = {control_of(cell, model) for cell in (*ours, *extra) for model in CONTROLS}
    found = {*ours, *extra, *map(extended, (*ours, *extra)), *controls, *_sweep(), *_default()}
    return tuple(sorted(found, key=_order))


def extended(cell: Cell) -> Cell:
    """The cell of the extended model beside one of the paper's model."""
    return replace(cell, model=EXTENDED[cell.model])


def goal(cell: Cell) -> float | None:
    """The published number that a cell is compared with: the paper's own, also for the extended model."""
    paper = {name: own for own, name in EXTENDED.items()}
    return published().get(replace(cell, model=paper.get(cell.model, cell.model)))


def control_of(cell: Cell, control: str) -> Cell:
    """The control of a cell. In table 3, the paper's GCN has as many layers as NCGNN has hops; if the number of hops is
    not fixed, it is the GCN of the best depth in the paper."""
    if cell.table != "3":
        return Cell(cell.table, cell.dataset, cell.setting, control)
    if control != GCN:
        return Cell("3", cell.dataset, _OWN_CHOICE, control)
    return Cell("3", cell.dataset, cell.setting, GCN) if cell.hops else best_gcn(cell.dataset)


def best_gcn(dataset: str) -> Cell:
    """The GCN of the best depth in the paper's table 3."""
    return max((cell for cell in _sweep() if cell.dataset == dataset), key=published().__getitem__)


def setting_of(graph: str) -> str:
    """The usual split of a graph, as named in the tables."""
    return DATASETS[graph].split


def named_graphs() -> tuple[str, ...]:
    """The twelve real graphs of the tables."""
    return tuple(dict.fromkeys(cell.dataset for cell in published() if not cell.is_synthetic))


def _sweep() -> list[Cell]:
    return [cell for cell in published() if cell.table == "3" and cell.model == GCN]


def _default() -> list[Cell]:
    return [Cell("default", name, setting_of(name), NCGNN_DEFAULT) for name in named_graphs()]


def _order(cell: Cell) -> tuple[int, int, int, tuple[bool, int, str]]:
    datasets = (*named_graphs(), SYN_CORA, *EXTRA)
    number = "".join(c for c in cell.setting if c.isdecimal())
    setting = (not number, int(number or 0), cell.setting)
    return TABLES.index(cell.table), datasets.index(cell.dataset), MODELS.index(cell.model), setting
