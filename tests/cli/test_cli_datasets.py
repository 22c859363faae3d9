import json
import re

import pytest

from ncgnn.data import DATASETS, save_graph, syn_cora


@pytest.fixture
def no_benchmark(monkeypatch) -> None:
    monkeypatch.delenv("NCGNN_DATA", raising=False)


def test_every_named_graph_is_listed(ncgnn, no_benchmark):
    rows = json.loads(ncgnn("datasets", "--json").out)
    assert [row["name"] for row in rows] == list(DATASETS)
    assert sum(row["paper"] is not None for row in rows) == 12
    karate = rows[list(DATASETS).index("karate")]
    assert (karate["found"]["nodes"], karate["found"]["edges"], karate["equal"]) == (34, 78, None)


def test_the_table_says_what_is_equal_and_what_is_not_at_hand(ncgnn, no_benchmark):
    done = ncgnn("datasets")
    assert (done.code, done.err) == (0, "")
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.split()[0] in DATASETS}
    assert list(lines) == list(DATASETS)
    assert re.search(r"pubmed +19717 +44324 +500 +3 +0.80( +-){5} +not available", lines["pubmed"])
    assert re.search(r"karate( +-){5} +34 +78 +34 +4 +0.76$", lines["karate"].rstrip())


@pytest.mark.parametrize("columns", ["20", "80"])
def test_no_number_is_cut_on_a_narrow_screen(ncgnn, no_benchmark, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert "…" not in ncgnn("datasets").out


def test_a_graph_in_the_data_folder_that_differs_is_marked(ncgnn, no_benchmark, here):
    save_graph(syn_cora(0.5, num_nodes=50), here / "texas.npz")
    row = next(row for row in json.loads(ncgnn("datasets", "--data", here, "--json").out) if row["name"] == "texas")
    assert row["equal"] is False
    assert row["found"]["nodes"] == 50
    assert re.search(r"texas .* different", ncgnn("datasets", "--data", here).out)


def test_a_data_folder_that_is_not_there(ncgnn, no_benchmark):
    done = ncgnn("datasets", "--data", "nowhere")
    assert (done.code, done.out) == (2, "")
    assert done.err == "ncgnn: nowhere: the data folder does not exist\n"


def test_all_graphs_of_the_paper_equal_its_table_1(ncgnn, benchmark):
    rows = {row["name"]: row for row in json.loads(ncgnn("datasets", "--json").out)}
    paper = [row for row in rows.values() if row["paper"] is not None]
    assert [row["equal"] for row in paper] == [True] * 12
    synthetic = [rows[f"syn-cora:0.{tenth}"]["found"] for tenth in range(1, 10)]
    assert [found["nodes"] for found in synthetic] == [1490] * 9
    assert "12 of the paper's 12 graphs are available and match" in ncgnn("datasets").out
