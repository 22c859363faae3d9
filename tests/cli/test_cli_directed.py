"""Directed edges and several edge tables on the command line."""

import json
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest

from helpers.papers import QUICK
from ncgnn.cli.graph import GraphOptions
from ncgnn.cli.remembered import source, with_run
from ncgnn.data import load_dataset, save_graph

OPTIONS = ["--epochs", 3, *QUICK]


@pytest.fixture
def two(tables, here) -> list[str]:
    """Two edge tables instead of one."""
    edges = pd.read_csv(here / "edges.csv", dtype=str)
    edges[::2].to_csv(here / "cites.csv", index=False)
    edges[1::2].to_csv(here / "extends.csv", index=False)
    return ["--nodes", "nodes.csv", "--edges", "cites.csv", "--edges", "extends.csv"]


def predictions(here, name: str) -> pd.DataFrame:
    return pd.read_csv(here / name)[["id", "predicted", "probability"]]


def test_several_tables_give_the_same_model_as_one(ncgnn, tables, two, here):
    said = [*tables[4:], "--label", "topic", *OPTIONS]
    done = ncgnn("train", *two, *said, "--directed", "--out", "two")
    assert done.code == 0, done.err
    assert "cites.csv\n  from  source  " in done.out
    assert " directed edges: 0 repeated, 0 self-loops\n  to    target\nextends.csv\n" in done.out
    assert "`ncgnn explain two --page two/page.html`" in done.out
    assert ncgnn("train", *tables[:4], *said, "--out", "one").code == 0
    pd.testing.assert_frame_equal(predictions(here, "two/predictions.csv"), predictions(here, "one/predictions.csv"))


def test_a_model_remembers_directions_and_tables(ncgnn, tables, two, here):
    assert ncgnn("train", *two, *tables[4:], "--directed", "--label", "topic", *OPTIONS, "--out", "run").code == 0
    for given in ([*two, "--directed"], two, [*two[:2], *two[4:], *two[2:4]]):
        assert ncgnn("predict", "run", *given, "--out", "p.csv", "--overwrite").code == 0
        pd.testing.assert_frame_equal(predictions(here, "p.csv"), predictions(here, "run/predictions.csv"))
    done = ncgnn("explain", "run", *two, "--directed", "--node", "001")
    assert done.code == 0, done.err
    done = ncgnn("predict", "run", *tables[:4])
    assert done.code == 2
    assert done.err.startswith("ncgnn: the model was trained on 2 edge tables called cites, extends, not edges: ")


def test_a_model_without_directions_refuses_them(ncgnn, tables):
    assert ncgnn("train", *tables, "--label", "topic", *OPTIONS, "--out", "run").code == 0
    done = ncgnn("predict", "run", *tables[:4], "--directed")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "the model was trained on edges without direction: remove the option, or retrain (--directed)" in done.err


def test_the_run_remembers_tables_and_direction(tmp_path, here):
    paths = [here / name for name in ("n.csv", "a.csv", "b.csv")]
    for path in paths:
        path.write_text("x")
    given = GraphOptions(nodes=Path("n.csv"), edges=[Path("a.csv"), Path("b.csv")], directed=True, data=Path("d"))
    (tmp_path / "run.json").write_text(json.dumps({"source": source(given, tmp_path)}))
    assert with_run(GraphOptions(), tmp_path) == given
    assert with_run(GraphOptions(name="texas"), tmp_path) == GraphOptions(name="texas")


def test_two_tables_with_one_stem_are_an_error_in_one_line(ncgnn, tables, here):
    (here / "old").mkdir()
    (here / "old/edges.csv").write_text("from,to\n")
    done = ncgnn("check", *tables, "--edges", "old/edges.csv", "--label", "topic")
    assert (done.code, done.out) == (2, "")
    assert done.err == "ncgnn: edges.csv and old/edges.csv: two edge tables are called 'edges': rename one\n"


def test_a_missing_column_is_said_of_its_file(ncgnn, tables, two, here):
    (here / "extends.csv").write_text("a,b\n")
    done = ncgnn("check", *two, *tables[4:], "--label", "topic", "--source", "from", "--target", "to")
    assert done.err == "ncgnn: extends.csv: there is no column 'from'; columns: a, b\n"


def test_graphs_without_directed_edges_say_so(ncgnn, here):
    club = nx.karate_club_graph()
    for node in club.nodes:
        club.nodes[node]["friends"] = club.degree[node]
    nx.write_graphml(club, here / "club.graphml")
    save_graph(load_dataset("karate"), here / "club.npz")
    for given in (["karate"], ["club.npz"], ["club.graphml", "--label", "club"]):
        done = ncgnn("check", *given, "--directed")
        assert (done.code, done.out) == (2, "")
        assert done.err == f"ncgnn: {given[0]}: this graph has no directed edges: remove the option (--directed)\n"


def test_graphml_and_npz_files_keep_directions(ncgnn, here):
    club = nx.DiGraph(nx.karate_club_graph().edges(data=True))
    for node, member in nx.karate_club_graph().nodes(data=True):
        club.nodes[node].update(club=member["club"], friends=club.degree[node])
    nx.write_graphml(club, here / "club.graphml")
    done = ncgnn("check", "club.graphml", "--label", "club", "--directed")
    assert "78 rows, 78 directed edges" in done.out
    assert "have a direction" not in done.out
    data = GraphOptions(name="club.graphml", label="club", directed=True).find()
    save_graph(data, here / "club.npz")
    assert GraphOptions(name="club.npz", directed=True).find().edge_tables["edges"].edge_index.shape == (2, 78)
    assert "edges of club.graphml have a direction" in ncgnn("check", "club.graphml", "--label", "club").out


def test_a_named_graph_has_its_directed_edges(ncgnn, benchmark):
    assert "links" in GraphOptions(name="texas").find().edge_tables
    assert "links" in GraphOptions(name="texas", directed=True, data=benchmark).find().edge_tables
    assert ncgnn("check", "cora", "--directed").code == 2


def test_check_mentions_links_whose_direction_was_not_kept(ncgnn, tables):
    given = [*tables, "--label", "topic"]
    done = ncgnn("check", *given)
    assert "note: the links of edges.csv have a direction, which is not kept\n" in done.out
    assert "  what to do: if the direction has a meaning, keep it (--directed)\n" in done.out
    (found,) = [f for f in json.loads(ncgnn("check", *given, "--json").out)["findings"] if f["name"] == "one-way links"]
    assert found["level"] == "note"
    assert "one-way links" not in ncgnn("check", *given, "--directed", "--json").out
    assert "direction" not in ncgnn("train", *given, *OPTIONS).err
