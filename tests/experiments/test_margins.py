import pytest

from helpers.stored_rows import row
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.margins import depth_margins, headline_cells, margins
from ncgnn.experiments.statistics import NOT_RUN
from ncgnn.experiments.valid_runs import counted

TEXAS = Cell("5", "texas", "48/32/20", "NCGNN-A")


def citation(setting: str, model: str) -> Cell:
    return Cell("3", "cora", setting, model)


def test_margins_stand_beside_the_papers():
    gcn = Cell("5", "texas", "48/32/20", "GCN")
    rows = [row(TEXAS, 0, 0.8), row(TEXAS, 1, 0.9), row(gcn, 0, 0.6), row(gcn, 1, 0.6)]
    found = next(r for r in margins(counted(rows)).rows if r[0] == "texas")
    assert found[3] == pytest.approx(25)
    assert found[5] == pytest.approx(84.43 - 59.46)
    assert found[6] == NOT_RUN


def test_the_farthest_hops_are_compared_with_two_layers_and_with_the_best_depth():
    rows = [row(citation("hops=5", "NCGNN-A"), 0, 0.84), row(citation("hops=best", "NCGNN-D"), 0, 0.85)]
    rows += [row(citation("hops=2", "GCN"), 0, 0.81), row(citation("hops=3", "GCN"), 0, 0.80)]
    found = depth_margins(counted(rows)).rows
    assert [r[:3] for r in found[:2]] == [["cora", "hops=5", "NCGNN-A"], ["cora", "hops=best", "NCGNN-D"]]
    assert [found[0][i] for i in (3, 5, 6, 8)] == pytest.approx([3, 83.62 - 80.90, 4, 83.62 - 81.03])
    assert [found[1][i] for i in (3, 5, 6, 8)] == pytest.approx([4, 83.64 - 80.90, 5, 83.64 - 81.03])
    assert [r[-1] for r in found] == [3, 3, 2, 2, 2, 2, 2, 2]  # cora, citeseer, pubmed, cora-ml
    assert found[2][3] == NOT_RUN


def test_ncgnn_is_at_its_best_with_all_hops():
    assert [cell.setting for cell in headline_cells() if cell.dataset == "cora"] == ["hops=5", "hops=best"]
    assert {cell.dataset for cell in headline_cells()} == {
        "cora", "citeseer", "pubmed", "cora-ml", "amazon-photo", "amazon-computers",
    }  # fmt: skip
