"""Figures 4 and 7, drawn from the stored runs."""

from collections.abc import Callable, Iterable
from statistics import fmean
from typing import TYPE_CHECKING

from ncgnn.drawing import new_figure
from ncgnn.experiments.cells import DAMAGED, GCN, Cell, all_cells
from ncgnn.experiments.statistics import estimate, units
from ncgnn.experiments.valid_runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZES = {"K": "primary capsules K", "T": "iterations T", "dropout": "dropout rate"}
_HOMOPHILY = ("h=0.3", "h=0.7")


def sizes(runs: Runs) -> "Figure | None":
    """Figure 4: accuracy by number of capsules, by iterations and by dropout rate, with a GCN as a dashed line; None if
    nothing of it was run."""
    cells = [cell for cell in all_cells() if cell.table == "fig4" and cell in runs]
    if not cells:
        return None
    figure = new_figure(12, 4)
    for axes, (name, label) in zip(figure.subplots(1, len(_SIZES), sharey=True), _SIZES.items(), strict=True):
        for number, graph in enumerate(dict.fromkeys(cell.dataset for cell in cells)):
            ours = [cell for cell in cells if cell.dataset == graph and cell.setting.startswith(f"{name}=")]
            _line(axes, ours, runs, lambda cell: float(cell.setting.partition("=")[2]), graph, f"C{number}")
            for gcn in (cell for cell in cells if cell.dataset == graph and cell.model == GCN):
                axes.axhline(_mean(gcn, runs), color=f"C{number}", linestyle="--", label=f"{graph}, GCN")
        axes.set(xlabel=label)
    return _finished(figure)


def damage(runs: Runs) -> "Figure | None":
    """Figure 7: accuracy by the share of edges that were removed, with 95 % intervals; None if nothing of it was
    run."""
    cells = [cell for cell in all_cells() if cell.table == "fig7" and cell in runs]
    if not cells:
        return None
    figure = new_figure(10, 4)
    for axes, homophily in zip(figure.subplots(1, len(_HOMOPHILY)), _HOMOPHILY, strict=True):
        for number, model in enumerate(DAMAGED):
            ours = [cell for cell in cells if cell.model == model and cell.setting.startswith(f"{homophily},")]
            _line(axes, ours, runs, lambda cell: 100 * cell.removed, model, f"C{number}")
        axes.set(xlabel="removed edges, %", title=f"Syn-Cora, {homophily}")
    return _finished(figure)


def _line(
    axes: "Axes", cells: Iterable[Cell], runs: Runs, place: Callable[[Cell], float], label: str, color: str
) -> None:
    found = [(place(cell), estimate(list(units(runs[cell], "seed").values()))) for cell in cells]
    if found:
        x, y, half = zip(*((at, one.mean, one.half or 0.0) for at, one in found), strict=True)
        axes.errorbar(x, y, half, label=label, color=color, marker="o", markersize=3, capsize=2)


def _mean(cell: Cell, runs: Runs) -> float:
    return fmean(units(runs[cell], "seed").values())


def _finished(figure: "Figure") -> "Figure":
    first, *_ = figure.axes
    first.set_ylabel("test accuracy, %")
    lines = dict(pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=max(len(lines), 1))
    return figure
