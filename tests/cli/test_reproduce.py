from dataclasses import replace

import pytest

from helpers.stored_rows import row
from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.rows import RunStore

ONE = ("reproduce", "table6", "--models", "MLP", "--datasets", "syn-cora:0.5")


@pytest.fixture(autouse=True)
def no_benchmark_graphs(monkeypatch, tmp_path):
    from ncgnn.experiments import protocol

    monkeypatch.delenv("NCGNN_DATA", raising=False)
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path / "cache"))
    protocol._loaded.cache_clear()


def test_a_cell_is_run_stored_and_reported_and_not_run_again(ncgnn, here):
    done = ncgnn(*ONE)
    assert done.code == 0, done.err
    assert "syn-cora" in done.out
    file = here / "results/runs/6-syn-cora-mlp.csv"
    stored = file.read_bytes()
    assert stored.count(b"\n") == 2
    assert (here / "results/tables/table6.csv").is_file()
    hash = stored.decode().splitlines()[1].split(",")[6]
    assert 'model = "mlp"' in (here / f"results/configs/{hash}.toml").read_text()
    assert "# Results" in (here / "results/tables/results.md").read_text()
    assert ncgnn(*ONE).code == 0
    assert file.read_bytes() == stored


def test_a_report_runs_nothing_and_hides_nothing(ncgnn, here):
    done = ncgnn("reproduce", "table5", "--report-only", "--markdown", "page.md")
    assert done.code == 0
    cells = [cell for cell in all_cells() if cell.table == "5"]
    with_margin = [cell for cell in cells if cell.model in ("NCGNN-A", "NCGNN-A extended")]
    assert done.out.count("not run yet") == len(cells) + len(with_margin)
    assert (here / "page.md").is_file()
    assert not (here / "results/runs").exists()


def test_a_plan_runs_nothing_and_says_how_much_there_is_to_do(ncgnn, here):
    done = ncgnn(*ONE, "--protocol", "core", "--plan")
    assert done.code == 0
    assert [cell.strip() for cell in done.out.splitlines()[-2].split("│")[1:4]] == ["6", "syn-cora", "10"]
    assert not (here / "results").exists()


def test_runs_that_fail_are_listed_and_the_others_stored(ncgnn, here, monkeypatch):
    from ncgnn.errors import InputError
    from ncgnn.experiments import one_run

    def train(graph, recipe, seed, real=one_run.train_recipe):
        if seed == 3:
            raise InputError("training diverged")
        short = recipe.settings.model_copy(update={"epochs": 1})
        return real(graph, replace(recipe, settings=short), seed)

    monkeypatch.setattr(one_run, "train_recipe", train)
    done = ncgnn(*ONE, "--protocol", "core")
    assert (done.code, done.err) == (1, "ncgnn: syn-cora, h=0.5, MLP, split 0, seed 3: training diverged\n")
    assert (here / "results/runs/6-syn-cora-mlp.csv").read_text().count("\n") == 10
    assert (here / "results/tables/table6.csv").is_file()


def test_runs_on_another_version_of_a_graph_are_named(ncgnn, here):
    store, cell = RunStore(here / "results"), Cell("6", "syn-cora", "h=0.5", "MLP")
    for seed, graph in enumerate("aab"):
        store.append(row(cell, 0, 0.7, seed=seed, graph=graph))
    done = ncgnn("reproduce", "table6", "--report-only")
    assert done.code == 0
    assert done.err == "note: syn-cora:0.5: only runs on graph version a are counted (2), not 1 on b\n"


def test_a_control_that_was_not_searched_is_left_out_with_a_word(ncgnn, monkeypatch):
    from ncgnn.models.gcn import MODEL

    monkeypatch.setattr(MODEL, "preset", lambda graph, variant: None)
    done = ncgnn("reproduce", "table6", "--models", "GCN tuned")
    assert done.code == 0
    assert "skipping GCN tuned on syn-cora: first run ncgnn tune syn-cora --model gcn" in done.err


def test_an_extended_model_without_a_choice_names_the_program_that_makes_it(ncgnn, monkeypatch):
    monkeypatch.setattr("ncgnn.experiments.recipes.extended_recipe", lambda *_: None)
    done = ncgnn("reproduce", "table5", "--models", "NCGNN-A extended", "--datasets", "texas", "--plan")
    assert done.code == 0
    assert "skipping NCGNN-A extended on texas: first run python -m benchmarks.extended" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("table9",),
            "TABLE table9: unknown; known: table3, table4",
        ),
        (("table5", "--markdown", "."), ".: a page is a Markdown file: give a .md file"),
        (("table5", "--protocol", "long"), "--protocol long: unknown; known: paper, core, quick"),
        (("table5", "--models", "gat"), "--models gat: unknown; known: NCGNN-A"),
        (("table5", "--datasets", "cora"), "--datasets cora: unknown; known: squirrel"),
        (("table5", "--models", "NCGNN-D"), "no cell of table5 uses these models: NCGNN-D"),
        (("table5", "--backend", "ray"), "--backend ray: unknown; known: loky, dask"),
        (("table5", "--scheduler", "tcp://here"), "--scheduler requires --backend dask"),
        (("table3", "--datasets", "citeseer"), "graph 'citeseer' is not available (NCGNN_DATA is not set)"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_run(ncgnn, here, arguments, message):
    done = ncgnn("reproduce", *arguments)
    assert done.code == 2
    lines = [line for line in done.err.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1
    assert lines[0].startswith(f"ncgnn: {message}")
    assert not (here / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("fig5", "--report-only"),
            "results/figures/fig5-hops.csv: does not exist; create it with ncgnn reproduce fig5",
        ),
        (("fig5", "table5"), "figures cannot be combined with tables"),
        (("fig5", "--models", "GCN"), "figures cannot be combined with tables, --models"),
        (("fig6",), "graph 'citeseer' is not available (NCGNN_DATA is not set)"),
        (("fig2",), "TABLE fig2: unknown; known: table3"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(ncgnn, here, arguments, message):
    done = ncgnn("reproduce", *arguments)
    assert done.code == 2
    assert done.err.startswith(f"ncgnn: {message}")
    assert done.err.count("\n") == 1
    assert not any(here.iterdir())
