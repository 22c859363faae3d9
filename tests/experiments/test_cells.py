from collections import Counter

import pytest

from ncgnn.data import DATASETS
from ncgnn.experiments.cells import CONTROLS, Cell, all_cells, best_gcn, control_of, named_graphs, published
from ncgnn.experiments.protocol import PROTOCOLS, fulfilled, plan


def ours(cell: Cell) -> bool:
    return cell.model in ("NCGNN-A", "NCGNN-D") and cell.table != "extra"


def test_every_published_number_of_ncgnn_has_its_cell():
    counts = Counter(cell.table for cell in all_cells() if ours(cell))
    assert counts == {"3": 24, "4": 4, "5": 6, "6": 9, "7": 6}
    assert all(cell in published() for cell in all_cells() if ours(cell))


def test_the_published_numbers_are_the_papers():
    assert published()[Cell("3", "cora", "hops=best", "NCGNN-D")] == 83.64
    assert published()[Cell("5", "squirrel", "48/32/20", "NCGNN-A")] == 48.80
    assert published()[Cell("7", "amazon-computers", "5 per class", "GCN")] == 73.21


def test_every_dataset_has_all_controls():
    models: dict[tuple[str, str], set[str]] = {}
    for cell in all_cells():
        models.setdefault((cell.table, cell.dataset), set()).add(cell.model)
    assert all(found >= set(CONTROLS) for (table, _), found in models.items() if table != "default")


def test_every_graph_is_a_known_one():
    assert {cell.graph for cell in all_cells()} <= set(DATASETS)
    assert len(named_graphs()) == 12


def test_no_cell_is_there_twice():
    assert len(set(all_cells())) == len(all_cells())


def test_a_gcn_has_as_many_layers_as_ncgnn_has_hops():
    cell = Cell("3", "cora", "hops=4", "NCGNN-A")
    assert control_of(cell, "GCN").setting == "hops=4"
    assert best_gcn("cora") == Cell("3", "cora", "hops=3", "GCN")
    assert control_of(Cell("3", "cora", "hops=best", "NCGNN-D"), "GCN").setting == "hops=3"
    assert all(control_of(cell, control) in all_cells() for cell in all_cells() if ours(cell) for control in CONTROLS)


@pytest.mark.parametrize(
    ("protocol", "runs"),
    [
        ("paper", 34 * 5 * 10 + 6 * 10 * 10 + 9 * 10),
        ("core", 34 * 5 * 2 + 3 * 10 * 10 + 3 * 10 * 2 + 9 * 10),
        ("quick", 34 * 5 + 6 * 10 + 9),
    ],
)
def test_how_many_runs_a_protocol_has(protocol, runs):
    assert sum(len(plan(cell, protocol)) for cell in all_cells() if ours(cell)) == runs


def test_each_protocol_holds_the_smaller_ones():
    for cell in all_cells():
        paper, core, quick = (set(plan(cell, protocol)) for protocol in PROTOCOLS)
        assert paper >= core >= quick
        assert fulfilled(cell, paper) == "paper"
        assert fulfilled(cell, quick - {(0, 0)}) is None
