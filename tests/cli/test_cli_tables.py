import json
import re

import networkx as nx
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.mangled_tables import FAULTY, SOUND, noise
from helpers.mangled_tables import tables as mangled
from helpers.mangled_tables import write as write_mangled
from helpers.papers import FILES, QUICK
from ncgnn.classifier import NCGNNClassifier

OPTIONS = ["--epochs", 1, *QUICK]


def features(run) -> list[str]:
    return NCGNNClassifier.load(run / "model.safetensors").feature_names_in_.tolist()


def test_what_columns_are_taken_for_is_shown(ncgnn, tables, here):
    shown = ncgnn("train", *tables, "--label", "topic", *OPTIONS).out.splitlines()
    assert shown[:9] == [
        "nodes.csv",
        "  paper  id",
        "  topic  label        2 classes, 12 blank",
        "  venue  categorical  3 values",
        "  group  categorical  2 values",
        "  pages  numeric      5 to 11",
        "  cited  numeric      0 to 2.5",
        "edges.csv",
        "  from  source  122 rows, 122 edges: 0 repeated, 0 self-loops",
    ]
    done = ncgnn("train", *tables, "--label", "topic", *OPTIONS, "--json", "--overwrite")
    assert json.loads(done.out)["config"]["epochs"] == 1


def test_a_file_says_what_columns_are_and_options_are_stronger(ncgnn, tables, here):
    (here / "c.toml").write_text('label = "topic"\nignore = ["note", "pages"]\ncategorical = ["group"]\n')
    given = [*tables[:4], "--columns", "c.toml", *OPTIONS]
    assert ncgnn("train", *given, "--out", "file").code == 0
    assert features(here / "file") == ["venue=FOCS", "venue=KDD", "venue=LICS", "group=7", "group=8", "cited"]
    assert ncgnn("train", *given, "--numeric", "pages", "--ignore", "group", "--out", "option").code == 0
    assert features(here / "option") == ["venue=FOCS", "venue=KDD", "venue=LICS", "pages", "cited"]


def test_a_faulty_file_about_columns_is_one_line(ncgnn, tables, here):
    (here / "c.toml").write_text("labels = 'topic'\n")
    done = ncgnn("train", *tables, "--columns", "c.toml", *OPTIONS)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ncgnn: c.toml: unknown key 'labels'; did you mean 'label'?")


def test_a_graphml_file_is_trained_on_predicted_and_explained(ncgnn, here):
    graph = nx.karate_club_graph()
    for node in graph.nodes:
        graph.nodes[node]["friends"] = graph.degree[node]
    nx.write_graphml(graph, here / "club.graphml")
    assert ncgnn("train", "club.graphml", "--label", "club", "--weight", "weight", *OPTIONS, "--out", "run").code == 0
    assert ncgnn("predict", "run", "club.graphml", "--out", "p.csv").code == 0
    predicted = pd.read_csv(here / "p.csv")
    written = pd.read_csv(here / "run/predictions.csv")
    assert predicted["predicted"].tolist() == written["predicted"].tolist()
    assert set(predicted["label"]) == {"Mr. Hi", "Officer"}
    why = ncgnn("explain", "run", "club.graphml", "--node", 33).out
    assert re.match(f"Node 33: .*{predicted['predicted'][33]}", why)
    assert "--label is required: the column" in ncgnn("train", "club.graphml").err


def test_predictions_are_the_same_after_training_and_from_the_model_file(ncgnn, tables, here):
    ncgnn("train", *tables, "--label", "topic", "--epochs", 5, *QUICK, "--out", "run")
    ncgnn("predict", "run", *tables[:4], "--out", "p.csv")
    columns = ["id", "predicted", "probability"]
    first, second = (pd.read_csv(here / name)[columns] for name in ("run/predictions.csv", "p.csv"))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize("type", [pa.string(), pa.binary(), pa.binary(3)], ids=str)
def test_columns_with_repeated_values_are_read(ncgnn, here, monkeypatch, type):
    repeated = pa.array([b"red", b"sea"] * 20, pa.binary()).cast(type)
    pa.parquet.write_table(pa.table({"id": range(40), "size": range(40), "kind": repeated}), here / "nodes.parquet")
    (here / "edges.csv").write_text("source,target\n0,2\n1,3\n")
    monkeypatch.setattr("ncgnn.data.tables.parquet.available_bytes", lambda: 1)
    found = ncgnn("check", "--nodes", "nodes.parquet", "--edges", "edges.csv", "--label", "kind", "--json")
    report = json.loads(found.out)
    assert (report["nodes"], report["classes"], report["labelled"]) == (40, 2, 40)


def test_nodes_that_differ_in_nothing_are_trained_on(ncgnn, here):
    (here / "same.csv").write_text("id,topic,size\n" + "".join(f"{i},{'ab'[i % 2]},1\n" for i in range(20)))
    (here / "none.csv").write_text("source,target\n")
    done = ncgnn("train", "--nodes", "same.csv", "--edges", "none.csv", "--label", "topic", *OPTIONS)
    assert done.code == 0, done.err


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    written=mangled(),
    which=st.sampled_from(["nodes", "edges"]),
    mangle=st.sampled_from([*SOUND.values(), *FAULTY.values()])
    | st.builds(noise, st.binary(min_size=1, max_size=8), st.floats(0, 0.99)),
)
def test_mangled_tables_make_a_whole_run_folder_or_none(ncgnn, tmp_path_factory, written, which, mangle):
    folder = tmp_path_factory.mktemp("mangled")
    nodes, edges = write_mangled(folder, written, mangle, which)
    done = ncgnn("train", "--nodes", nodes, "--edges", edges, "--label", "topic", *OPTIONS, "--out", folder / "run")
    errors = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert done.code in (0, 2)
    assert len(errors) == (done.code == 2), done.err
    assert all(re.match("ncgnn: .", line) for line in errors)
    assert (folder / "run").exists() == (done.code == 0)
    assert done.code or sorted(path.name for path in (folder / "run").iterdir()) == FILES
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("option", ["--numeric", "--date", "--text", "--direction", "--columns"])
def test_options_about_columns_need_tables(ncgnn, option):
    done = ncgnn("train", "karate", option, "x")
    assert done.code == 2
    assert f"{option} applies to tables only, and karate is not a table" in done.err
