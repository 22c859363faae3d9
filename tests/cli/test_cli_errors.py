import os
import pickle
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.papers import QUICK, contents
from ncgnn.data import load_dataset, save_graph

OUT = ["--epochs", 1, *QUICK, "--out", "runs/old", "--overwrite"]
LABEL = ["--label", "topic"]


@pytest.fixture
def fails(ncgnn, here, old_run):
    """Run a command that must end with exit code 2, one line, and every file as it was."""

    def run(*arguments: object, message: str) -> None:
        before = contents(here)
        done = ncgnn(*arguments)
        assert (done.code, done.out) == (2, "")
        assert re.fullmatch(f"ncgnn: .*{message}.*\n", done.err), done.err
        assert contents(here) == before

    return run


def edit(file: str, pattern: str, replacement: str) -> None:
    """Change the first place in a file that the pattern matches."""
    path = Path(file)
    text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    path.write_text(text)


def test_the_tables_as_they_are_would_do(ncgnn, tables):
    assert ncgnn("train", *tables, *LABEL, *OUT).code == 0


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        ('"paper"', '"key"', "nodes.csv: there is no column 'paper'; columns: key, topic, venue"),
        ('"venue"', '"paper"', "nodes.csv: two columns are called 'paper': rename one"),
        ('^"005"', '"004"', "nodes.csv, column 'paper', row 6: id '004' is a duplicate; rows with a repeated id: 1"),
        ('^"005"', '" "', "nodes.csv, column 'paper', row 6: the id is blank"),
        ('(^"016".*)"7"', r'\1"n/a"', "nodes.csv, column 'pages', row 17: 'n/a' is not a finite number"),
        ('(^"016".*)"7"', r'\1"inf"', "nodes.csv, column 'pages', row 17: 'inf' is not a finite number"),
        ('"topic"', '"subject"', "nodes.csv: there is no column 'topic'; columns: paper, subject"),
        ('^"005",', '"005",,', "nodes.csv: row 6 has 8 values, but the header has 7"),
        (r"(?s)\n.*", "\n", "nodes.csv: the table has no rows"),
        (r"(?s).*", "", "nodes.csv: the file is empty"),
    ],
)
def test_a_faulty_node_table(fails, tables, pattern, replacement, message):
    edit("nodes.csv", pattern, replacement)
    fails("train", *tables, "--id", "paper", *LABEL, *OUT, message=message)


def test_edges_to_unknown_nodes_are_counted_and_the_first_is_named(fails, tables, here):
    with (here / "edges.csv").open("a") as file:
        file.write('"001","999"\n"002","998"\n"997","003"\n')
    row = (here / "edges.csv").read_text().count("\n") - 3
    message = f"edges.csv, column 'to', row {row}: node '999' is not in the node table; edges with an unknown node: 3"
    fails("train", *tables, *LABEL, *OUT, message=message)


def test_one_class_is_too_few(fails, tables, here):
    (here / "nodes.csv").write_text((here / "nodes.csv").read_text().replace('"logic, old"', '"graphs"'))
    fails("train", *tables, *LABEL, *OUT, message="1 class with labels: at least two are needed")


def test_no_label_at_all(fails, tables, here):
    (here / "nodes.csv").write_text(re.sub('"(logic, old|graphs)"', '""', (here / "nodes.csv").read_text()))
    fails("train", *tables, *LABEL, *OUT, message="0 classes with labels: at least two are needed")


def test_a_class_with_fewer_nodes_than_asked(fails, tables):
    message = r"class 'graphs' has 24 labelled nodes, but train=25 per class were requested"
    fails("train", *tables, *LABEL, *OUT, "--per-class", 25, message=message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--per-class", 3], "val=500 validation nodes were requested, but only 22 labelled nodes are left"),
        (["--per-class", 0], "train must be at least 1"),
        (["--per-class", 3, "--val", -1], "val at least 0"),
        (["--per-class", 3, "--val", 0], "val_mask is empty"),
        (["--per-class", 3, "--fractions", 0.5, 0.2], "--per-class and --fractions are mutually exclusive"),
        (["--fractions", 0.9, 0.2], "train and val must be fractions"),
        (["--fractions", "nan", 0.2], "train and val must be fractions"),
        (["--fractions", 0.5, 0], "val=0.0 of 34 labelled nodes rounds to zero"),
    ],
)
def test_splits_that_cannot_be_drawn(fails, options, message):
    fails("train", "karate", *OUT, *options, message=message)


def test_a_published_split_that_does_not_exist(fails, here):
    data = load_dataset("karate")
    data.train_mask = data.val_mask = data.test_mask = (data.y >= 0)[:, None].repeat(1, 2)
    save_graph(data, here / "club.npz")
    fails(
        "train", "club.npz", *OUT, "--split-seed", 2, message="split 2 does not exist: graph 'karate' has splits 0 to 1"
    )
    fails("train", "club.npz", *OUT, "--splits", 3, message="split 2 does not exist")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["karat"], "unknown graph 'karat'; did you mean 'karate'"),
        (["zzz"], "unknown graph 'zzz'; known: cora, citeseer, "),
        (["syn-cora:2"], "'syn-cora:' must be followed by a homophily from 0 to 1"),
        (["missing.npz"], "missing.npz: no such file"),
        (["karate", "--data", "nowhere"], "nowhere: the data folder does not exist"),
        ([], "give one graph: a name, an .npz file, or both --nodes and --edges"),
        (["karate", "--nodes", "nodes.csv", "--edges", "edges.csv"], "give one graph"),
        (["karate", "--nodes", "nodes.csv"], "give one graph"),
        (["karate", "--label", "topic"], "--label applies to tables only, and karate is not a table: remove it"),
        (["karate", "--ignore", "note"], "--ignore applies to tables only"),
        (["--label", "topic"], "give one graph"),
        (["--nodes", "nodes.csv", *LABEL], "--nodes and --edges must be given together"),
        (["--edges", "edges.csv", *LABEL], "--nodes and --edges must be given together"),
        (["--nodes", "nodes.csv", "--edges", "edges.csv"], "--label is required: the column of the node table"),
        (["--nodes", "none.csv", "--edges", "edges.csv", *LABEL], "none.csv: no such file"),
        (["--nodes", "nodes.csv", "--edges", "none.csv", *LABEL], "none.csv: no such file"),
        (["--nodes", "runs", "--edges", "edges.csv", *LABEL], "runs: is a folder, not a table"),
        (["--nodes", "x" * 300, "--edges", "edges.csv", *LABEL], "x: File name too long"),
        (["--nodes", "nodes.csv", "--edges", "edges.csv", *LABEL, "--ignore", "age"], "there is no column 'age'"),
    ],
)
def test_a_graph_that_cannot_be_had(fails, tables, monkeypatch, arguments, message):
    monkeypatch.delenv("NCGNN_DATA", raising=False)
    fails("train", *arguments, *OUT, message=message)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["learning_rate=1"], "settings: unknown key 'learning_rate'; known keys: filter, hops"),
        (["=1"], "settings: unknown key ''"),
        (["dropout=1.5"], "settings: dropout = 1.5: .*less than 1"),
        (["dropout=much"], "settings: dropout = 'much': .*valid number"),
        (["hops=[1, 2"], r"settings: hops = '\[1, 2'"),
        (["hops=[1, 200]"], r"settings: hops.1 = 200: .*less than or equal to 100"),
        (["lr=inf"], "settings: lr = inf: .*finite"),
        (["epochs"], "--set epochs: write KEY=VALUE"),
        (["top_k=5", "epsilon=0.1"], "top_k and epsilon are mutually exclusive"),
        (["beta=1e300"], "beta = 1e.300: Input should be less than or equal to 1000"),
    ],
)
def test_settings_that_are_wrong(fails, settings, message):
    options = [part for setting in settings for part in ("--set", setting)]
    fails("train", "karate", *OUT, *options, message=message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epochs", 0], "settings: epochs = 0: "),
        (["--seed", -1], "settings: seed = -1: "),
        (["--filter", "difusion"], "settings: filter = 'difusion': .*'attention' or 'diffusion'"),
        (["--filter", "../karate"], "settings: filter = "),
    ],
)
def test_options_out_of_range(fails, options, message):
    fails("train", "karate", *OUT, *options, message=message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hop = 2\n", "c.toml: unknown key 'hop'"),
        ("hops = 200\n", "c.toml: hops = 200: "),
        ("hops = \n", "c.toml: not valid TOML: "),
        ('dropout = "a lot\n', "c.toml: not valid TOML: "),
        ("[train]\nhops = 2\n", "c.toml: unknown key 'train'"),
        ("m_minus = 0.95\n", "c.toml: m_minus = 0.95 must be below m_plus = 0.9"),
    ],
)
def test_a_configuration_file_that_is_wrong(fails, here, content, message):
    (here / "c.toml").write_text(content)
    fails("train", "karate", "--config", "c.toml", "--out", "runs/old", message=message)


def test_a_configuration_file_is_named_also_beside_settings(fails, here):
    (here / "c.toml").write_text("hop = 2\n")
    message = "c.toml with changes: unknown key 'hop'"
    fails("train", "karate", "--config", "c.toml", "--set", "lr=0.1", message=message)


def test_a_configuration_file_that_is_not_there(fails):
    fails("train", "karate", "--config", "c.toml", *OUT, message=r"c.toml: cannot be read \(No such file")


@pytest.mark.parametrize("out", ["file", "file/run", "dead", "file/a/b"])
def test_a_run_folder_that_cannot_be(fails, here, out):
    (here / "file").write_text("mine")
    (here / "dead").symlink_to("nowhere")
    fails("train", "karate", "--epochs", 10**8, *QUICK, "--out", out, message=f"{out}: cannot be written")


def test_a_folder_in_the_place_of_a_file(ncgnn, here):
    (here / "run" / "model.safetensors").mkdir(parents=True)
    done = ncgnn("train", "karate", "--epochs", 1, *QUICK, "--out", "run")
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch("ncgnn: run/model.safetensors: cannot be written .*\n", done.err)
    assert not [name for name in os.listdir(here / "run") if name.startswith(".")]


def test_a_name_with_a_line_break_makes_no_second_line(fails):
    fails("train", "karate", "--config", "a\nb.toml", message="a b.toml: cannot be read")


def test_models_that_cannot_be_used(fails, here, old_run):
    model = old_run / "model.safetensors"
    whole = model.read_bytes()
    fails("predict", "nowhere", "karate", message="nowhere: no such model file")
    fails("predict", "runs", "karate", message="runs: is not a run folder; did you mean runs/old")
    for content in (whole[:-1], whole[:100], b"", pickle.dumps({"a": 1})):
        model.write_bytes(content)
        message = "model.safetensors: not an ncgnn model file, or a damaged one"
        fails("predict", "runs/old", "karate", "--out", "p.csv", message=message)
    fails("predict", "x" * 300, "karate", message="x: File name too long")


def test_a_graph_with_other_features_than_the_model(fails, tables, here, old_run):
    data = load_dataset("karate")
    data.x = data.x.to_dense()[:, :7]
    data.feature_names = data.feature_names[:7]
    save_graph(data, here / "club.npz")
    message = "the model expects 34 features, the graph has 7"
    fails("predict", "runs/old", "club.npz", "--out", "p.csv", message=message)
    options = ["--nodes", "nodes.csv", "--edges", "edges.csv"]
    fails("predict", "runs/old", *options, message="the model was not trained on tables: give a graph name")


def test_tables_without_a_column_that_the_model_needs(ncgnn, fails, tables, here):
    ncgnn("train", *tables, *LABEL, *OUT)
    options = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--out", "p.csv"]
    fails("predict", "runs/old", "karate", message="the model expects 7 features, the graph has 34")
    edit("nodes.csv", '"venue"', '"place"')
    fails(
        "predict",
        "runs/old",
        *options,
        message=r"there is no column 'venue', .*; columns: paper, topic, place",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one graph"),
        (["karate", "--nodes", "nodes.csv", "--edges", "edges.csv"], "give one graph"),
        (["--nodes", "nodes.csv"], "the model was not trained on tables"),
        (["karate", "--id", "paper"], "--id applies to tables only, and karate is not a table"),
        (["karat"], "did you mean 'karate'"),
        (["karate", "--out", "runs"], "runs: cannot be written"),
        (["karate", "--out", "nowhere/p.csv"], "nowhere/p.csv: cannot be written"),
        (["karate", "--out", "/dev/null"], "/dev/null: cannot be written"),
    ],
)
def test_predictions_that_cannot_be_made(fails, tables, arguments, message):
    fails("predict", "runs/old", *arguments, message=message)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["train", "karate", "--learning-rate", "1"], "--learning-rate"),
        (["train", "karate", "--epochs", "many"], "--epochs"),
        (["train", "karate", "--splits", "0"], "--splits"),
        (["train", "karate", "--split-seed", "-1"], "--split-seed"),
        (["train", "karate", "--fractions", "0.5"], "--fractions"),
        (["train", "karate", "more"], "more"),
        (["predict"], "MODEL"),
        (["explode"], "explode"),
        (["--data"], "--data"),
    ],
)
def test_wrong_usage_names_the_option_and_has_no_traceback(ncgnn, here, arguments, word):
    done = ncgnn(*arguments)
    assert (done.code, done.out) == (2, "")
    assert word in done.err
    assert "Traceback" not in done.err
    assert not os.listdir(here)


def test_a_process_of_its_own_ends_the_same_way(command, tables, here):
    with (here / "edges.csv").open("a") as file:
        file.write('"001","999"\n')
    arguments = [command, "train", *tables, *LABEL]
    done = subprocess.run(arguments, cwd=here, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch("ncgnn: edges.csv, column 'to', .*unknown node: 1\n", done.stderr)
    assert sorted(os.listdir(here)) == ["edges.csv", "nodes.csv"]


@pytest.mark.parametrize("take", [lambda *_: torch.empty(2**50), lambda *_: np.empty(2**50)], ids=["torch", "numpy"])
def test_memory_that_does_not_suffice_is_one_line(fails, monkeypatch, take):
    monkeypatch.setattr("ncgnn.cli.run._train", take)
    fails("train", "karate", *OUT, message="not enough memory: use a smaller graph")


def test_a_validation_count_without_a_training_count(fails):
    fails("train", "karate", "--val", 5, *OUT, message="--val requires --per-class")


def test_several_splits_beside_the_model_of_one(fails):
    fails("train", "karate", "--splits", 2, *OUT, message="already contains a single-split run")


def test_a_table_in_the_place_of_a_graph(fails, tables):
    fails("train", "nodes.csv", *OUT, message="nodes.csv: pass tables with --nodes and --edges")
