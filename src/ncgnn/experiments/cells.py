"""The cells of the paper's tables 3 to 7 and figures 4 and 7, of all rivals and of the ablation, and the published
numbers."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from ncgnn.data import DATASETS
from ncgnn.data.named.registry import SYN_CORA

TABLES = ("3", "4", "5", "6", "7", "extra", "default", "fig4", "fig7", "ablation")
NCGNN_A, NCGNN_D, NCGNN_DEFAULT = "NCGNN-A", "NCGNN-D", "NCGNN default"
GCN, GCN_TUNED, GCN_EXTENDED, MLP = "GCN", "GCN tuned", "GCN extended", "MLP"
EXTENDED = {NCGNN_A: "NCGNN-A extended", NCGNN_D: "NCGNN-D extended"}
"""The paper's models, and the same with what this library adds: groups of capsules, teachers, averaged weights."""
CONTROLS = (GCN, GCN_TUNED, GCN_EXTENDED, MLP)

_GEOM = ("Geom-GCN-I", "Geom-GCN-P", "Geom-GCN-S")
_H2GCN = ("H2GCN-1", "H2GCN-2")
# fmt: off
BASELINES = (
    "GAT", "SGC", "APPNP", "JK-Net", "DAGNN", "GCNII", "Scattering GCN", "AdaEdge", "DropEdge", "BBGDC", *_GEOM, *_H2GCN
)
"""The rows of the paper's tables besides NCGNN, GCN and MLP."""
TODAY = (
    "LINKX", "GPR-GNN", "ACM-GCN", "FSGNN", "Dir-GNN", "GCN of Luo et al.", "GraphSAGE of Luo et al.", "GRAND",
    "Ordered GNN",
)
"""What researchers would compare with today."""
BOOSTED = "boosting with neighbours"
PRACTICAL = ("boosting", BOOSTED, "label propagation", "Correct and Smooth", "linear GNN")
"""What practitioners would use instead of a GNN."""
# fmt: on
RIVALS = (*BASELINES, *TODAY, *PRACTICAL)
TUNED = {name: f"{name} tuned" for name in (GCN, MLP, *RIVALS)}
"""The same models with tuned settings, on small graphs."""
_SMALL = 8000  # nodes
_OF_TABLES = {"Dir-GNN": "5", "GRAND": "347"}  # rivals that suit directed, or assortative graphs; all others are in all

ABLATIONS = (
    "T = 1",
    "K = 1",
    "beta = 0",
    "beta = 1",
    "beta = 20",
    "over classes",
    "cross-entropy",
    "top 32",
    "top 128",
)
ABLATED = {name: f"{NCGNN_A}, {name}" for name in ABLATIONS}

_SWEPT = {"K": "num_capsules", "T": "iterations", "dropout": "dropout"}
_SWEEPS = {"K": range(4, 13), "T": range(2, 9), "dropout": [tenth / 10 for tenth in range(10)]}
DAMAGED = (NCGNN_A, "DAGNN", "GCNII", *_H2GCN)

MODELS = (
    *(NCGNN_A, NCGNN_D, *EXTENDED.values(), NCGNN_DEFAULT, *CONTROLS),
    TUNED[MLP],
    *(model for name in RIVALS for model in (name, TUNED[name])),
    *ABLATED.values(),
)
EXTRA = tuple(info.name for info in DATASETS.values() if info.is_extra)

_WITHOUT_CONTROLS = ("default", "fig4", "fig7", "ablation")
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
        homophily = self.setting.partition(",")[0].removeprefix("h=")
        return f"{self.dataset}:{homophily}" if self.is_synthetic else self.dataset

    @property
    def hops(self) -> int | None:
        """The number of hops of a column of table 3; None if the settings determine it."""
        value = self.setting.removeprefix("hops=")
        return int(value) if value.isdecimal() else None

    @property
    def is_synthetic(self) -> bool:
        return self.dataset == SYN_CORA

    @property
    def has_one_split(self) -> bool:
        """Whether its runs differ in their seeds only."""
        return self.is_synthetic or self.table == "fig4"

    @property
    def has_controls(self) -> bool:
        """Whether GCN and MLP stand beside it."""
        return self.table not in _WITHOUT_CONTROLS

    @property
    def change(self) -> dict[str, float]:
        """The setting that figure 4 changes."""
        name, _, value = self.setting.partition("=")
        if self.table != "fig4" or name not in _SWEPT:
            return {}
        return {_SWEPT[name]: float(value) if "." in value else int(value)}

    @property
    def removed(self) -> float:
        """The share of edges that figure 7 removes."""
        percent = re.search(r"(\d+) % removed", self.setting)
        return int(percent[1]) / 100 if percent else 0.0

    def __str__(self) -> str:
        return f"{self.dataset}, {self.setting}, {self.model}"


@cache
def published() -> dict[Cell, float]:
    """The paper's accuracies in percent."""
    text = (resources.files("ncgnn.experiments") / "published.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {Cell(r["table"], r["dataset"], r["setting"], r["model"]): float(r["accuracy"]) for r in rows}


@cache
def all_cells() -> tuple[Cell, ...]:
    """All cells, in the order of the tables."""
    ours = [cell for cell in published() if cell.model in EXTENDED]
    extra = [Cell("extra", name, setting_of(name), NCGNN_A) for name in EXTRA]
    controls = {control_of(cell, model) for cell in (*ours, *extra) for model in CONTROLS}
    found = {*ours, *extra, *map(extended, (*ours, *extra)), *controls, *_sweep(), *_default(), *_rivals(ours)}
    return tuple(sorted({*found, *_figure_4(), *_figure_7(), *_ablation()}, key=_order))


def _rivals(ours: Iterable[Cell]) -> set[Cell]:
    """The rivals' cells: those of the paper, and today's beside each of NCGNN's; tuned ones on small graphs."""
    paper = {cell for cell in published() if cell.model in BASELINES}
    columns = {replace(cell, setting=own_choice(cell)) for cell in ours}
    today = {replace(cell, model=name) for cell in columns for name in (*TODAY, *PRACTICAL) if _suits(name, cell)}
    plain = {*paper, *_out_of_memory(), *today}
    features = {replace(cell, model=MLP) for cell in columns}
    untuned = {cell for cell in (*plain, *features) if cell.table in "3456" and cell.setting == own_choice(cell)}
    return plain | {replace(cell, model=TUNED[cell.model]) for cell in untuned if _is_small(cell)}


def own_choice(cell: Cell) -> str:
    """The column in which models have their own number of hops."""
    return _OWN_CHOICE if cell.table == "3" else cell.setting


def _suits(name: str, cell: Cell) -> bool:
    return cell.table in _OF_TABLES.get(name, cell.table)


def _out_of_memory() -> set[Cell]:
    """The paper's BBGDC on all graphs of its tables: those without a figure did not fit into the authors' memory."""
    known = [cell for cell in published() if cell.model == "BBGDC"]
    return {
        replace(cell, dataset=other.dataset) for cell in known for other in published() if other.table == cell.table
    }


def _is_small(cell: Cell) -> bool:
    """Syn-Cora is the only graph without statistics in the paper's table 1 here, and it is small."""
    paper = DATASETS[cell.graph].paper
    return paper is None or paper.nodes < _SMALL


def _figure_4() -> list[Cell]:
    """NCGNN with other sizes, and the GCN as a line, on one split."""
    values = [f"{name}={value}" for name, found in _SWEEPS.items() for value in found]
    graphs = [info.name for info in DATASETS.values() if info.is_swept]
    points = [Cell("fig4", graph, value, NCGNN_A) for graph in graphs for value in values]
    return [*points, *(Cell("fig4", graph, setting_of(graph), GCN) for graph in graphs)]


def _figure_7() -> list[Cell]:
    """With edges removed at random."""
    settings = [f"h={homophily}, {percent} % removed" for homophily in (0.3, 0.7) for percent in range(0, 60, 10)]
    return [Cell("fig7", SYN_CORA, setting, model) for setting in settings for model in DAMAGED]


def _ablation() -> list[Cell]:
    return [
        Cell("ablation", info.name, info.split, model)
        for info in DATASETS.values()
        if info.is_ablated
        for model in (NCGNN_A, *ABLATED.values())
    ]


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


def _order(cell: Cell) -> tuple[int, int, int, tuple[bool, str, float, str]]:
    datasets = (*named_graphs(), SYN_CORA, *EXTRA)
    name, _, value = cell.setting.partition("=")
    numbers = [float(number) for number in re.findall(r"[\d.]+", value or name)]
    order = sum(number / 1000**place for place, number in enumerate(numbers))
    setting = (not numbers, name * bool(value), order, cell.setting)
    return TABLES.index(cell.table), datasets.index(cell.dataset), MODELS.index(cell.model), setting
