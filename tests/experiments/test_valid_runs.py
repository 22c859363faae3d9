from helpers.stored_rows import row
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.results_page import markdown
from ncgnn.experiments.valid_runs import counted, left_out, whole

NCGNN, GCN = (Cell("6", "syn-cora", "h=0.5", model) for model in ("NCGNN-A", "GCN"))
OTHER = Cell("6", "syn-cora", "h=0.4", "GCN")


def test_runs_on_two_versions_of_a_graph_are_not_mixed():
    rows = [row(NCGNN, 0, 0.8, seed=seed, graph="a") for seed in range(3)] + [row(NCGNN, 0, 0.1, graph="b")]
    assert [one.graph for one in counted(rows)[NCGNN]] == ["a", "a", "a"]


def test_all_models_of_a_graph_have_the_version_with_the_most_runs():
    ours = [row(NCGNN, 0, 0.8, seed=seed, graph="b") for seed in range(4)]
    gcn = [row(GCN, 0, 0.8, seed=seed, graph=graph) for seed, graph in enumerate("aaab")]
    assert [one.graph for one in counted([*gcn, *ours])[GCN]] == ["b"]
    assert set(counted([*gcn[:3], *ours])) == {NCGNN}


def test_versions_of_different_graphs_have_nothing_to_do_with_each_other():
    rows = [row(NCGNN, 0, 0.8, graph="a"), row(OTHER, 0, 0.8, graph="b")]
    assert set(counted(rows)) == {NCGNN, OTHER}
    assert left_out(rows) == []


def test_the_report_says_which_version_is_left_out():
    rows = [row(NCGNN, 0, 0.8, seed=seed, graph="a") for seed in range(3)] + [row(GCN, 0, 0.1, graph="b")]
    line = "syn-cora:0.5: only runs on graph version a are counted (3), not 1 on b"
    assert left_out(rows) == [line]
    assert line in markdown(rows).splitlines()


def test_rows_of_older_settings_choose_no_version():
    rows = [row(GCN, 0, 0.8, hash="older", seed=seed, graph="a") for seed in range(3)] + [row(GCN, 0, 0.1, graph="b")]
    assert [one.graph for one in counted(rows)[GCN]] == ["b"]
    assert left_out(rows) == []


def test_a_cell_is_whole_with_a_run_on_each_split():
    texas = Cell("5", "texas", "48/32/20", "GCN")
    rows = [row(texas, split, 0.5) for split in range(9)]
    assert whole(counted(rows)) == {}
    rows += [row(texas, 0, 0.5, seed=1)]
    assert whole(counted(rows)) == {}
    rows += [row(texas, 9, 0.5)]
    assert list(whole(counted(rows))) == [texas]
