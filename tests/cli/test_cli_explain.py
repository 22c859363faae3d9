import json
import re

import pandas as pd
import pytest

from helpers.papers import QUICK
from ncgnn.data import load_dataset, save_graph


def test_a_node_is_explained_in_words_and_bars(ncgnn, karate_run):
    done = ncgnn("explain", karate_run, "karate", "--node", 33, "--features", "--top", 4)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Node 33: ")
    assert done.out.splitlines()[-1].startswith("Routing among 2 capsules: ")
    assert re.findall(r"^\d, by (\w+)$", done.out, re.MULTILINE) == ["hop", "node", "capsule", "feature"]
    assert done.out.count("all other nodes") == 1


def test_json_has_an_object_a_node(ncgnn, karate_run):
    done = ncgnn("explain", karate_run, "karate", "--node", 5, "--node", 0, "--against", "runner-up", "--json")
    objects = [json.loads(line) for line in done.out.splitlines()]
    assert [one["node"] for one in objects] == ["5", "0"]
    assert done.err == ""
    for one in objects:
        assert sum(part["value"] for part in one["hops"]) + one["bias"] == pytest.approx(one["score"], abs=1e-5)


def test_what_would_change_the_class_is_said_before_the_details(ncgnn, karate_run):
    done = ncgnn("explain", karate_run, "karate", "--node", 33, "--what-if")
    assert (done.code, done.err) == (0, "")
    answer = done.out.split("\n\nDetails\n")[0].splitlines()
    assert sum(line.startswith(("It would be ", "It would stay ", "There are no ")) for line in answer) == 3


def test_without_these_links_the_class_is_another(ncgnn, karate_run, here):
    """The graph without them is predicted anew."""
    done = ncgnn("explain", karate_run, "karate", "--what-if", "--json")
    changes = [change for line in done.out.splitlines() for change in json.loads(line)["what_if"]]
    found = [change for change in changes if change["what"] == "links" and change["removed"]]
    assert found
    for number, change in enumerate(found[:2]):
        node, gone = int(change["node"]), {int(other) for other in change["removed"]}
        data = load_dataset("karate")
        ends = data.edge_index.t().tolist()
        kept = [not ((a == node and b in gone) or (b == node and a in gone)) for a, b in ends]
        data.edge_index = data.edge_index[:, kept]
        save_graph(data, f"less-{number}.npz")
        rows = ncgnn("predict", karate_run, f"less-{number}.npz").out.splitlines()
        predicted = {row.split(",")[0]: row.split(",")[2] for row in rows}
        assert predicted[change["node"]] == change["becomes"] != change["prediction"]


@pytest.mark.parametrize(("file", "read"), [("all.csv", pd.read_csv), ("all.parquet", pd.read_parquet)])
def test_all_nodes_become_a_table(ncgnn, karate_run, here, file, read):
    done = ncgnn("explain", karate_run, "karate", "--out", file)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{file}: explanations of 34 nodes\n"
    table = read(here / file)
    assert list(table.columns) == ["id", "class", "kind", "name", "title", "contribution"]
    assert table["id"].nunique() == 34
    assert set(table["kind"]) == {"answer", "hop", "itself", "neighbour", "rest", "capsule", "bias"}


def test_nodes_of_ones_own_tables(ncgnn, tables, here):
    assert ncgnn("train", *tables, "--label", "topic", "--epochs", 5, *QUICK, "--out", "runs/topics").code == 0
    options = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--node", "007", "--features"]
    done = ncgnn("explain", "runs/topics", *options)
    assert (done.code, done.err) == (0, "")
    assert "Node 007: " in done.out
    assert "venue=" in done.out


def test_a_node_that_is_named_twice_is_one(ncgnn, karate_run, here):
    done = ncgnn("explain", karate_run, "karate", "--node", 3, "--node", 3, "--out", "why.csv")
    assert "why.csv: explanations of 1 node\n" in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--node", "340"], "there is no node '340'; closest: '34'|there is no node '340'; closest: .*'30'.*"),
        (["--node", "1", "--class", "12"], "there is no class '12'; there are '0', '1', '2', '3'"),
        (
            ["--node", "1", "--against", "x"],
            "there is no class 'x'; there are '0', '1', '2', '3', 'runner-up', 'others'",
        ),
        ([], "choose nodes with --node ID, or write all of them to a table with --out FILE.csv"),
        (["--out", "all.txt"], "all.txt: explanations are written as .csv or .parquet files: choose one of them"),
        (["--node", "1", "--sample", "3"], "--sample only applies to --evaluate: remove --sample"),
        (["--out", "all.csv", "--json"], "--json and --out are mutually exclusive"),
    ],
)
def test_mistakes_end_with_a_line(ncgnn, karate_run, here, options, message):
    done = ncgnn("explain", karate_run, "karate", *options)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(f"ncgnn: (?:{message})\n", done.err)
    assert list(here.iterdir()) == []


def test_methods_are_compared_on_test_nodes(ncgnn, karate_run, here):
    done = ncgnn("explain", karate_run, "karate", "--evaluate", "--sample", 1, "--out", "measures.csv")
    assert (done.code, done.err.splitlines()[0]) == (0, "... karate: evaluating explanations")
    assert "Explanations of 1 node, " in done.out
    assert "characterisation ↑" in done.out
    assert done.err.splitlines()[-1] == "note: 1 node is too small a sample: use --sample 30 or more to compare methods"
    table = pd.read_csv(here / "measures.csv")
    assert list(table.columns) == ["method", "measure", "sparsity", "value", "nodes"]
    stable = table[table["measure"] == "stability over repeats"].set_index("method")["value"]
    assert stable["contributions"] == stable["contributions in turn"] == 1
    assert set(table["method"]) >= {"GNNExplainer", "integrated gradients", "filter weights", "random"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--node", "1"], "--evaluate compares methods on a random sample of nodes: remove --node"),
        (["--top", "3"], "--evaluate compares methods on a random sample of nodes: remove --top"),
        (["--json"], "--evaluate compares methods on a random sample of nodes: remove --json"),
        (["--out", "all.parquet"], "all.parquet: measures are written as CSV: give a .csv file"),
    ],
)
def test_a_comparison_takes_no_other_options(ncgnn, karate_run, here, options, message):
    done = ncgnn("explain", karate_run, "karate", "--evaluate", *options)
    assert (done.code, done.err) == (2, f"ncgnn: {message}\n")
    assert list(here.iterdir()) == []


def test_a_class_may_be_compared_with_all_others(ncgnn, karate_run):
    done = ncgnn("explain", karate_run, "karate", "--node", 5, "--against", "others", "--json")
    one = json.loads(done.out)
    assert one["against"] == "the mean of all others"
    assert sum(part["value"] for part in one["capsules"]) + one["bias"] == pytest.approx(one["score"], abs=1e-5)


def test_a_page_of_all_nodes_is_written(ncgnn, karate_run, here):
    done = ncgnn("explain", karate_run, "karate", "--page", "report.html")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"report\.html: 0\.\d MB; open it in a browser\n", done.out)
    text = (here / "report.html").read_text("utf-8")
    assert "All 34 nodes are on the map. All of them are explained." in text
    assert re.search(r'"trained":\d', text)  # the run folder tells it


def test_nodes_can_be_chosen(ncgnn, karate_run, here):
    done = ncgnn("explain", karate_run, "karate", "--page", "report.html", "--node", 5)
    assert done.code == 0
    assert "Explained: the 1 requested node." in (here / "report.html").read_text("utf-8")


def test_one_s_own_tables_have_a_page_with_their_split(ncgnn, tables, here):
    assert ncgnn("train", *tables, "--label", "topic", "--epochs", 5, *QUICK, "--out", "runs/topics").code == 0
    done = ncgnn("explain", "runs/topics", "--nodes", "nodes.csv", "--edges", "edges.csv", "--page", "report.html")
    assert (done.code, done.err) == (0, "")
    text = (here / "report.html").read_text("utf-8")
    assert re.search(r'"trained":\d', text)
    assert "venue=" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json"], "--page always explains the predicted class in a fixed layout: remove --json"),
        (
            ["--against", "1"],
            "--page always explains the predicted class in a fixed layout: remove --against",
        ),
        (["--sample", "3"], "--page always explains the predicted class in a fixed layout: remove --sample"),
        (["--node", "340"], "there is no node '340'; closest: .*"),
    ],
)
def test_mistakes_are_said_and_leave_no_page(ncgnn, karate_run, here, options, message):
    done = ncgnn("explain", karate_run, "karate", "--page", "report.html", *options)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(f"ncgnn: {message}\n", done.err)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(("name", "example"), [(".", "page.html"), ("/", "/page.html"), ("a.txt", "a.html")])
def test_a_page_has_the_name_of_a_page(ncgnn, karate_run, name, example):
    done = ncgnn("explain", karate_run, "karate", "--page", name)
    assert (done.code, done.err) == (2, f"ncgnn: {name}: a page is an HTML file, e.g. {example}\n")


@pytest.mark.parametrize("option", [["--page", "reasons.html"], ["--evaluate"]])
def test_several_processes_neither_write_a_page_nor_audit(ncgnn, karate_run, monkeypatch, option):
    monkeypatch.setattr("ncgnn.train.processes.is_shared", lambda: True)
    done = ncgnn("explain", karate_run, "karate", *option)
    assert (done.code, done.out) == (2, "")
    assert "--page and --evaluate run in a single process: start them without torchrun" in done.err
