"""What no command writes over, and what only with ``--overwrite``."""

import json
import os
import sys

import numpy as np
import pytest

from helpers.ogb_folders import write_tables as write_ogb_tables
from helpers.papers import FILES, QUICK, contents
from ncgnn.batches import map_graph
from ncgnn.data import large_graph

TABLES = ["--nodes", "nodes.csv", "--edges", "edges.csv"]
TRAIN = ["train", "karate", "--epochs", 1, *QUICK]
RUN_FILES = [*FILES, "search.csv", "capsules.png"]


@pytest.fixture
def refused(ncgnn, here):
    """Ends with one line and exit code 2, and changes nothing."""

    def run(*arguments: object, message: str) -> None:
        before = contents(here)
        done = ncgnn(*arguments)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
        assert done.err.count("\n") == 1
        assert contents(here) == before

    return run


@pytest.fixture
def links(here, tables):
    """The tables under other names."""
    (here / "soft.csv").symlink_to("nodes.csv")
    (here / "hard.csv").hardlink_to(here / "edges.csv")
    (here / "folder").symlink_to(".")


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]], ids=["", "overwrite"])
@pytest.mark.parametrize("out", ["nodes.csv", "edges.csv", "soft.csv", "hard.csv", "folder/nodes.csv"])
@pytest.mark.parametrize("verb", [["predict"], ["explain"]], ids=lambda verb: verb[0])
def test_the_output_is_not_written_over_an_input(refused, old_run, verb, out, overwrite):
    message = f"{out}: is an input of this command: choose another file"
    refused(*verb, "runs/old", *TABLES, "--out", out, *overwrite, message=message)


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]], ids=["", "overwrite"])
@pytest.mark.parametrize("name", FILES)
def test_predictions_are_not_written_over_a_file_of_the_run(refused, old_run, name, overwrite):
    message = f"runs/old/{name}: is a file of the run in runs/old: choose another file"
    refused("predict", "runs/old", "karate", "--out", f"runs/old/{name}", *overwrite, message=message)


def test_predictions_are_not_written_into_another_run_nor_over_its_model_by_a_link(refused, here, old_run):
    (here / "other").mkdir()
    (here / "other" / "run.json").write_text("{}")
    message = "other/predictions.csv: is a file of the run in other"
    refused("predict", "runs/old", "karate", "--out", "other/predictions.csv", message=message)
    (here / "link.csv").hardlink_to(old_run / "model.safetensors")
    message = "link.csv: is an input of this command"
    refused("predict", "runs/old", "karate", "--out", "link.csv", "--overwrite", message=message)


def test_a_page_is_not_written_over_a_report(refused, here, old_run):
    (here / "page.html").symlink_to(old_run / "report.md")
    message = "page.html: is a file of the run in"
    refused("explain", "runs/old", "karate", "--page", "page.html", "--overwrite", message=message)


@pytest.mark.parametrize(
    ("verb", "option", "file"),
    [("predict", "--out", "o.csv"), ("explain", "--out", "o.csv"), ("explain", "--page", "o.html")],
)
def test_a_file_of_the_user_is_replaced_only_with_overwrite(ncgnn, refused, here, old_run, verb, option, file):
    (here / file).write_text("mine")
    arguments = [verb, "runs/old", "karate", option, file]
    refused(*arguments, message=f"{file}: already exists: choose another file, or replace it with --overwrite")
    assert ncgnn(*arguments, "--overwrite").code == 0
    assert (here / file).read_text() != "mine"


@pytest.mark.usefixtures("tables")
def test_measures_of_explanations_are_not_written_over_an_input(refused, old_run):
    arguments = ["explain", "runs/old", *TABLES, "--evaluate", "--overwrite", "--out", "nodes.csv"]
    refused(*arguments, message="nodes.csv: is an input of this command")


def test_predictions_are_not_written_over_a_graph_of_the_data_folder(refused, here, old_run, monkeypatch):
    (here / "data").mkdir()
    (here / "data" / "karate.npz").write_text("a graph")
    monkeypatch.setenv("NCGNN_DATA", "data")
    arguments = ["predict", "runs/old", "karate", "--out", "data/karate.npz", "--overwrite"]
    refused(*arguments, message="data/karate.npz: is an input of this command")


def test_predictions_are_not_written_over_vectors_beside_the_node_table(ncgnn, refused, here, tables):
    np.save(here / "nodes.npy", np.eye(60, 3))
    assert ncgnn("train", *tables, "--label", "topic", "--epochs", 1, *QUICK, "--out", "run").code == 0
    for graph in ([], TABLES):
        arguments = ["predict", "run", *graph, "--out", "nodes.npy", "--overwrite"]
        refused(*arguments, message="nodes.npy: is an input of this command")


@pytest.mark.parametrize("verb", ["predict", "explain"])
def test_nothing_is_written_over_a_part_of_a_table_or_a_file_of_a_graph_in_a_folder(refused, here, old_run, verb):
    (here / "parts").mkdir()
    (here / "parts" / "a.parquet").write_text("a part")
    tables = ["--nodes", "parts", "--edges", "edges.csv", "--out", "parts/a.parquet", "--overwrite"]
    refused(verb, "runs/old", *tables, message="parts/a.parquet: is an input of this command")
    write_ogb_tables(here / "ogb", large_graph(60, num_features=2, num_classes=2))
    (here / "ogb" / "mapping" / "notes.csv").write_text("mine")
    graph = ["ogb", "--out", "ogb/mapping/notes.csv", "--overwrite"]
    refused(verb, "runs/old", *graph, message="ogb/mapping/notes.csv: is an input of this command")


@pytest.mark.parametrize("out", ["mapped/manifest.json", "mapped/000000000000-x.npy", "array.csv"])
def test_nothing_is_written_over_a_file_of_a_mapped_graph(refused, here, old_run, out):
    map_graph(here / "mapped", large_graph(60, num_features=2, num_classes=2))
    (here / "mapped" / "mine.parquet").write_text("not a part of the graph")
    (here / "array.csv").symlink_to("mapped/000000000000-x.npy")
    arguments = ["predict", "runs/old", "mapped", "--out", out, "--overwrite"]
    refused(*arguments, message=f"{out}: is an input of this command")


@pytest.mark.parametrize("out", ["checkpoint/training-1.pt", "search/0123456789abcdef.safetensors"])
def test_predictions_are_not_written_over_unfinished_trainings(refused, here, old_run, out):
    (old_run / out).parent.mkdir()
    (old_run / out).write_text("a training")
    (here / "link.csv").symlink_to(f"runs/old/{out}")
    message = f"link.csv: is a file of the run in {(old_run / out).parent}"
    refused("predict", "runs/old", "karate", "--out", "link.csv", "--overwrite", message=message)


def test_training_does_not_replace_a_run_unless_told(ncgnn, refused, here, old_run):
    message = "runs/old: already contains a run: choose another --out, or replace it with --overwrite"
    refused(*TRAIN, "--out", "runs/old", message=message)
    assert ncgnn(*TRAIN, "--out", "runs/old", "--overwrite").code == 0
    assert sorted(os.listdir(old_run)) == FILES
    message = "runs/old: already contains a run"
    refused(*TRAIN, "--out", "runs/old", message=message)


def test_training_does_not_replace_files_that_are_called_like_those_of_a_run(refused, here):
    (here / "out").mkdir()
    (here / "out" / "report.md").write_text("my report")
    refused(*TRAIN, "--out", "out", message="out: already contains report.md: choose another --out")


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]], ids=["", "overwrite"])
def test_training_does_not_replace_its_node_table(refused, tables, here, overwrite):
    (here / "out").mkdir()
    (here / "nodes.csv").rename(here / "out" / "predictions.csv")
    given = ["--nodes", "out/predictions.csv", *tables[2:], "--label", "topic", "--epochs", 1, *QUICK]
    message = "out: the run would replace the input out/predictions.csv: choose another --out"
    refused("train", *given, "--out", "out", *overwrite, message=message)


@pytest.mark.parametrize("file", ["search/notes.txt", "search/mine.safetensors", "search/.hidden", "search"])
def test_a_search_does_not_remove_files_of_others(refused, tables, here, file):
    (here / "out" / file).parent.mkdir(parents=True)
    (here / "out" / file).write_text("mine")
    message = f"out: the search would remove out/{file}: choose another --out"
    refused("train", *tables, "--label", "topic", "--search", "quick", "--out", "out", message=message)


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]], ids=["", "overwrite"])
@pytest.mark.parametrize("file", ["checkpoint/notes.txt", "checkpoint/best.pt", "checkpoint/my.tmp", "checkpoint"])
def test_training_does_not_remove_files_of_others(refused, here, file, overwrite):
    (here / "out" / file).parent.mkdir(parents=True)
    (here / "out" / file).write_text("mine")
    message = f"out: the checkpoint would remove out/{file}: choose another --out"
    refused(*TRAIN, "--out", "out", *overwrite, message=message)


@pytest.mark.parametrize(
    "arguments",
    [
        [*TRAIN, "--out", ""],
        ["predict", "runs/old", "karate", "--out", ""],
        ["explain", "runs/old", "karate", "--out", ""],
        ["explain", "runs/old", "karate", "--page", ""],
        ["tune", "karate", "--out", ""],
        ["reproduce", "table5", "--markdown", ""],
        ["example", ""],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-2]}",
)
def test_an_empty_output_is_refused(ncgnn, here, arguments):
    done = ncgnn(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "is empty: give a path" in done.err
    assert not os.listdir(here)


@pytest.fixture
def half_done(ncgnn, here, monkeypatch):
    """Two splits, of which the second is missing, as after a kill; what was typed."""
    typed = [*TRAIN, "--splits", 2, "--out", "two"]
    assert ncgnn(*typed).code == 0
    for name in FILES:
        (here / "two" / "split-1" / name).unlink()
    return typed


def test_a_killed_command_continues_with_the_first_split_that_is_not_finished(ncgnn, here, half_done):
    first = contents(here / "two" / "split-0")
    done = ncgnn(*half_done)
    assert done.code == 0
    assert contents(here / "two" / "split-0") == first
    assert sorted(os.listdir(here / "two" / "split-1")) == FILES
    assert "already contains a run" in ncgnn(*half_done).err


@pytest.mark.parametrize("change", [["--epochs", 2], ["--seed", 3]], ids=str)
def test_another_command_does_not_continue_there(refused, half_done, change):
    refused(*half_done, *change, message="two/split-0: already contains a run")


def test_a_run_without_the_comparison_that_was_asked_for_is_not_finished(ncgnn, here, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ncgnn.cli.run._compare", stop)
        assert ncgnn(*TRAIN, "--compare", "--out", "run").code == 130
    assert sorted(os.listdir(here / "run")) == FILES
    monkeypatch.setattr("ncgnn.compare.rivals", lambda model: [])
    monkeypatch.setattr("ncgnn.cli.run._comparison", lambda rows: {"rows": []})
    assert ncgnn(*TRAIN, "--compare", "--out", "run").code == 0


@pytest.mark.usefixtures("tables")
def test_tuning_replaces_its_own_settings_but_no_others_and_no_input(ncgnn, refused, here):
    pytest.importorskip("optuna")
    options = ["--trials", 1, "--confirm", 1, "--splits", 1]
    (here / "mine.toml").write_text("hops = 3\n")
    refused("tune", "karate", *options, "--out", "mine.toml", message="mine.toml: already exists")
    assert ncgnn("tune", "karate", *options).code == 0
    assert ncgnn("tune", "karate", *options).code == 0
    message = "nodes.csv: is an input of this command"
    refused(
        "tune", *TABLES, "--ignore", "note", "--label", "topic", "--out", "nodes.csv", "--overwrite", message=message
    )


@pytest.mark.parametrize("out", ["results/studies/karate-attention.db", "my.db", "link.toml"])
def test_settings_are_not_written_over_a_study(ncgnn, refused, here, out):
    pytest.importorskip("optuna")
    for folder in ("results/studies", "elsewhere"):
        (here / folder).mkdir(parents=True)
    (here / "link.toml").symlink_to("results/studies/karate-attention.lock")
    options = ["--trials", 1, "--storage", "sqlite:///elsewhere/../my.db", "--out", out, "--overwrite"]
    refused("tune", "karate", *options, message=f"{out}: is kept for studies: choose another file")


def test_the_table_of_a_study_does_not_replace_one_of_others(refused, here):
    pytest.importorskip("optuna")
    (here / "results/studies").mkdir(parents=True)
    (here / "results/studies/karate-attention.csv").write_text("my notes")
    message = "results/studies/karate-attention.csv: already exists: choose another file, or replace it with"
    refused("tune", "karate", "--trials", 1, message=message)


def test_reproducing_replaces_its_own_page_but_no_other_and_no_rows(ncgnn, refused, here):
    (here / "mine.md").write_bytes(b"# M\xefne\n")  # not UTF-8
    report = ["reproduce", "table6", "--report-only", "--markdown"]
    refused(*report, "mine.md", message="mine.md: already exists")
    assert ncgnn(*report, "page.md").code == 0
    assert ncgnn(*report, "page.md").code == 0
    assert ncgnn(*report, "mine.md", "--overwrite").code == 0
    (here / "results/runs").mkdir()
    (here / "results/runs/6-x.csv").write_text("")
    (here / "link.md").symlink_to("results/runs/6-x.csv")
    refused(*report, "link.md", "--overwrite", message="link.md: is an input of this command")
    for place in ("results/tables/table6.csv", "results", "new"):
        message = f"{place}: a page is a Markdown file: give a .md file"
        refused(*report, place, "--overwrite", message=message)


def test_figures_do_not_replace_pictures_of_others(refused, here):
    (here / "docs" / "figures").mkdir(parents=True)
    (here / "docs" / "figures" / "fig3.png").write_text("mine")
    (here / "results" / "figures").mkdir(parents=True)
    message = "docs/figures/fig3.png: already exists"
    refused("reproduce", "fig3", "--report-only", "--markdown", "docs/page.md", message=message)


def test_the_command_of_a_run_that_is_not_a_run_of_ours_is_not_believed(refused, here):
    (here / "run").mkdir()
    for content in ("[]", "{}", json.dumps({"command": sys.argv[1:], "graph": [], "versions": 1}), "\0"):
        (here / "run" / "run.json").write_text(content)
        refused(*TRAIN, "--out", "run", message="run: already contains a run")
