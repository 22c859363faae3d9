from collections import Counter

import pytest

from ncgnn.data import DATASETS
from ncgnn.experiments.cells import (
    BASELINES,
    CONTROLS,
    DAMAGED,
    PRACTICAL,
    TODAY,
    TUNED,
    Cell,
    all_cells,
    best_gcn,
    control_of,
    named_graphs,
    published,
)
from ncgnn.experiments.protocol import PROTOCOLS, fulfilled, plan


def ours(cell: Cell) -> bool:
    return cell.model in ("NCGNN-A", "NCGNN-D") and cell.table in "34567"


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
    assert all(found >= set(CONTROLS) for (table, _), found in models.items() if table in (*"34567", "extra"))


def models_of(table: str, dataset: str, setting: str) -> set[str]:
    return {cell.model for cell in all_cells() if (cell.table, cell.dataset, cell.setting) == (table, dataset, setting)}


def test_every_number_of_the_papers_tables_has_its_cell():
    assert set(published()) <= set(all_cells())
    assert {cell.model for cell in published()} == {*BASELINES, "GCN", "MLP", "NCGNN-A", "NCGNN-D"}


def test_so_has_what_was_out_of_memory_there():
    assert Cell("4", "amazon-computers", "20 per class", "BBGDC") in all_cells()
    columns = {cell.setting for cell in all_cells() if (cell.dataset, cell.model) == ("pubmed", "BBGDC")}
    assert columns == {"hops=2", "hops=3", "hops=4", "hops=5", "hops=best"}


@pytest.mark.parametrize(
    ("column", "left_out"),
    [
        (("3", "cora", "hops=best"), {"Dir-GNN"}),
        (("4", "amazon-computers", "20 per class"), {"Dir-GNN"}),
        (("5", "squirrel", "48/32/20"), {"GRAND"}),
        (("6", "syn-cora", "h=0.3"), {"GRAND", "Dir-GNN"}),
        (("7", "amazon-computers", "5 per class"), {"Dir-GNN"}),
    ],
)
def test_todays_rivals_stand_beside_ncgnn(column, left_out):
    assert models_of(*column) & {*TODAY, *PRACTICAL} == {*TODAY, *PRACTICAL} - left_out


def test_rivals_are_tuned_on_small_graphs():
    assert models_of("3", "cora", "hops=best") >= {TUNED["GAT"], TUNED["GRAND"], TUNED["MLP"]}
    assert models_of("3", "cora", "hops=2").isdisjoint(TUNED.values())
    assert models_of("3", "pubmed", "hops=best") & set(TUNED.values()) == {"GCN tuned"}
    assert models_of("4", "amazon-computers", "20 per class") & set(TUNED.values()) == {"GCN tuned"}


def test_figure_4_changes_one_size_at_a_time():
    cells = [cell for cell in all_cells() if cell.table == "fig4" and cell.dataset == "cora"]
    changes = [cell.change for cell in cells if cell.model == "NCGNN-A"]
    assert changes[:3] == [{"num_capsules": 4}, {"num_capsules": 5}, {"num_capsules": 6}]
    assert {tuple(change.items()) for change in changes} >= {(("iterations", 8),), (("dropout", 0.9),)}
    assert [(cell.change, cell.has_one_split) for cell in cells if cell.model == "GCN"] == [({}, True)]


def test_figure_7_removes_up_to_half_of_the_edges():
    cells = [cell for cell in all_cells() if cell.table == "fig7" and cell.model == "NCGNN-A"]
    assert [cell.removed for cell in cells] == 2 * [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert {cell.graph for cell in cells} == {"syn-cora:0.3", "syn-cora:0.7"}
    assert {cell.model for cell in all_cells() if cell.table == "fig7"} == set(DAMAGED)


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


@pytest.mark.parametrize(
    ("cell", "runs"),
    [
        (Cell("3", "cora", "hops=best", "GAT"), 10),
        (Cell("3", "cora", "hops=4", "GAT"), 5),
        (Cell("5", "squirrel", "48/32/20", "LINKX"), 10),
        (Cell("5", "texas", "48/32/20", "GAT tuned"), 10),
        (Cell("6", "syn-cora", "h=0.3", "H2GCN-1"), 10),
        (Cell("7", "amazon-computers", "5 per class", "boosting"), 10),
        (Cell("fig7", "syn-cora", "h=0.3, 20 % removed", "DAGNN"), 10),
    ],
)
def test_rivals_have_at_least_the_stated_number_of_runs(cell, runs):
    assert cell in all_cells()
    assert len(plan(cell, "core")) == runs
