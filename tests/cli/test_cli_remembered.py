"""A run remembers its graph: later commands need only the run."""

import json
import shutil

import pandas as pd
import pytest

from helpers.ogb_folders import write_tables as write_ogb_tables
from helpers.papers import QUICK
from ncgnn.data import large_graph

OPTIONS = ["--epochs", 2, *QUICK, "--no-refit"]


@pytest.fixture
def papers(ncgnn, tables, here):
    """A run on two tables; its folder beside them."""
    assert ncgnn("train", *tables, "--label", "topic", *OPTIONS, "--out", "runs/papers").code == 0
    return here / "runs/papers"


def test_predict_and_explain_need_only_the_run(ncgnn, papers, monkeypatch):
    named = ncgnn("predict", papers, "--nodes", "nodes.csv", "--edges", "edges.csv")
    assert ncgnn("predict", papers).out == named.out != ""
    monkeypatch.chdir(papers)
    assert ncgnn("predict", ".").out == named.out
    done = ncgnn("explain", "model.safetensors", "--node", "001", "--top", 2)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Node 001")


def test_run_json_tells_paths_options_and_fingerprints(papers):
    source = json.loads((papers / "run.json").read_text())["source"]
    assert (source["nodes"], source["edges"]) == ("../../nodes.csv", ["../../edges.csv"])
    assert source["columns"] == {"label": "topic", "categorical": ["group"], "ignore": ["note"]}
    assert {len(digest) for digest in source["files"].values()} == {64}


def test_folder_and_tables_may_move_together(ncgnn, papers, here, tmp_path):
    before = ncgnn("predict", papers).out
    shutil.move(here, tmp_path / "there")
    assert ncgnn("predict", tmp_path / "there/runs/papers").out == before


def test_a_changed_file_is_named(ncgnn, papers, here):
    text = (here / "edges.csv").read_text()
    (here / "edges.csv").write_text("\n".join(text.splitlines()[:-1]) + "\n")
    done = ncgnn("predict", papers)
    assert done.code == 0
    assert "note: edges.csv has changed since training\n" in done.err
    assert "nodes.csv" not in done.err


def test_a_missing_file_is_named(ncgnn, papers, here):
    (here / "nodes.csv").rename(here / "others.csv")
    done = ncgnn("predict", papers)
    assert (done.code, done.out) == (2, "")
    assert done.err == "ncgnn: nodes.csv: the run was trained on this file, which is missing: name the graph\n"


def test_named_graphs_and_files_are_remembered(ncgnn, here):
    from ncgnn.data import load_dataset, save_graph

    (here / "graphs").mkdir()
    save_graph(load_dataset("karate"), here / "graphs/karate.npz")
    for name, options in (("karate", ()), ("graphs/karate.npz", ()), ("karate", ("--data", "graphs"))):
        assert (
            ncgnn("train", name, *options, *OPTIONS, "--out", "runs/one", "--search", "none", "--overwrite").code == 0
        )
        assert ncgnn("predict", "runs/one").out == ncgnn("predict", "runs/one", name, *options).out != ""


def test_a_table_in_parts_and_a_graph_in_a_folder_are_remembered_with_all_their_files(ncgnn, tables, here):
    nodes = pd.read_csv("nodes.csv", dtype=str)
    (here / "parts").mkdir()
    nodes[:30].to_parquet("parts/a.parquet")
    nodes[30:].to_parquet("parts/b.parquet")
    write_ogb_tables(here / "ogb", large_graph(60, num_features=2, num_classes=2))
    in_parts = ["--nodes", "parts", "--edges", "edges.csv"]
    for graph, roles, file in ((in_parts, ["--label", "topic"], "parts/b.parquet"), (["ogb"], [], "ogb/raw/more.csv")):
        assert ncgnn("train", *graph, *roles, *OPTIONS, "--out", "run", "--overwrite").code == 0
        done = ncgnn("predict", "run")
        assert done.out == ncgnn("predict", "run", *graph).out != ""
        assert "changed" not in done.err
        nodes[30:].iloc[::-1].to_parquet(file)
        assert f"note: {file.split('/')[0]} has changed since training\n" in ncgnn("predict", "run").err


@pytest.mark.parametrize("text", ["[3]", "[" * 100_000, "{", '{"source": 3}', '{"source": {"nodes": 3}}'])
def test_a_damaged_description_is_named(ncgnn, papers, text):
    (papers / "run.json").write_text(text)
    done = ncgnn("predict", papers)
    assert (done.code, done.err) == (2, f"ncgnn: {papers}/run.json: does not describe a run: name the graph\n")


def test_a_model_without_a_run_needs_a_graph(ncgnn, papers, here):
    (papers / "run.json").unlink()
    assert ncgnn("predict", papers).err.startswith("ncgnn: give one graph: ")
