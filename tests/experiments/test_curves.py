import numpy as np
import pytest

from helpers.stored_rows import row
from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.curves import damage, sizes
from ncgnn.experiments.valid_runs import counted


def test_without_runs_there_is_no_picture():
    assert sizes({}) is None
    assert damage({}) is None


def test_figure_4_has_a_line_for_each_graph_and_one_for_its_gcn():
    cells = [cell for cell in all_cells() if cell.table == "fig4" and cell.dataset == "cora"]
    rows = [row(cell, 0, 0.7 if cell.model == "GCN" else 0.8, seed=seed) for cell in cells for seed in (0, 1)]
    figure = sizes(counted(rows))
    found = {axes.get_xlabel(): axes for axes in figure.axes}
    line, *_ = found["primary capsules K"].lines
    assert line.get_xdata().tolist() == list(range(4, 13))
    assert line.get_ydata() == pytest.approx([80] * 9)
    assert [list(np.asarray(axes.lines[-1].get_ydata())) for axes in figure.axes] == [[pytest.approx(70)] * 2] * 3
    assert found["dropout rate"].lines[0].get_xdata() == pytest.approx([tenth / 10 for tenth in range(10)])


def test_figure_7_shows_accuracy_by_the_share_of_removed_edges():
    def cell(percent: int, model: str) -> Cell:
        return Cell("fig7", "syn-cora", f"h=0.7, {percent} % removed", model)

    rows = [row(cell(percent, "DAGNN"), 0, 0.9 - percent / 200) for percent in (0, 50)]
    rows.append(row(cell(0, "GCNII"), 0, 0.8))
    low, high = damage(counted(rows)).axes
    assert not low.containers
    assert [container.get_label() for container in high.containers] == ["DAGNN", "GCNII"]
    assert high.lines[0].get_xdata().tolist() == [0, 50]
    assert high.lines[0].get_ydata() == pytest.approx([90, 65])
