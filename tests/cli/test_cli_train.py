import json
import os
import re

import pandas as pd
import pytest

from helpers.papers import FILES, QUICK, contents, node_rows
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, save_graph, split_per_class
from ncgnn.models.ncgnn.config import Config


def predictions(folder) -> pd.DataFrame:
    return pd.read_csv(folder / "predictions.csv", dtype=str, keep_default_na=False)


def test_tables_to_a_run_folder_in_one_command(ncgnn, tables, here):
    done = ncgnn("train", *tables, "--label", "topic", "--epochs", 40, *QUICK)
    assert (done.code, done.err) == (0, "")
    assert sorted(os.listdir(here / "runs" / "nodes")) == FILES
    rows, table = node_rows(range(60)), predictions(here / "runs" / "nodes")
    assert table["id"].tolist() == [row["paper"] for row in rows]
    assert table["label"].tolist() == [row["topic"] for row in rows]
    assert set(table["predicted"]) == {"graphs", "logic, old"}
    assert set(table["split"]) == {"", "train", "val", "test"}
    assert ((table["split"] == "") == (table["label"] == "")).all()
    assert json.loads((here / "runs" / "nodes" / "run.json").read_text())["metrics"]["test_accuracy"] > 0.8
    model = NCGNNClassifier.load(here / "runs" / "nodes" / "model.safetensors")
    names = ["venue=FOCS", "venue=KDD", "venue=LICS", "group=7", "group=8", "pages", "cited"]
    assert model.feature_names_in_.tolist() == names


def test_columns_may_have_any_names(ncgnn, here):
    (here / "n.tsv").write_text("key\tage\tkind\n" + "".join(f"n{i}\t{i % 2}\tk{i % 2}\n" for i in range(30)))
    (here / "e.tsv").write_text("strength\tb\ta\n" + "".join(f"{i}.5\tn{i}\tn{i - 1}\n" for i in range(1, 30)))
    options = ["--id", "key", "--source", "a", "--target", "b", "--weight", "strength", "--label", "kind"]
    done = ncgnn("train", "--nodes", "n.tsv", "--edges", "e.tsv", *options, "--epochs", 1, *QUICK)
    assert done.code == 0
    assert NCGNNClassifier.load(here / "runs/n/model.safetensors").encoding_.weight == "strength"


def test_the_same_command_gives_the_same_bytes(ncgnn, tables, here):
    for out in ("one", "two"):
        ncgnn("train", *tables, "--label", "topic", "--epochs", 5, *QUICK, "--out", out)
    for name in ("predictions.csv", "model.safetensors", "history.csv"):
        assert (here / "one" / name).read_bytes() == (here / "two" / name).read_bytes()
    one, two = (json.loads((here / out / "run.json").read_text()) for out in ("one", "two"))
    assert one.pop("command")[:-1] == two.pop("command")[:-1]  # all but the folder
    assert one | {"seconds": 0} == two | {"seconds": 0}


def test_another_seed_gives_another_model_on_the_same_split(ncgnn, here):
    for seed in (0, 1):
        ncgnn("train", "karate", "--epochs", 2, *QUICK, "--seed", seed, "--out", seed)
    assert (here / "0/model.safetensors").read_bytes() != (here / "1/model.safetensors").read_bytes()
    assert (predictions(here / "0")["split"] == predictions(here / "1")["split"]).all()


def test_the_answer_is_a_table_for_people_and_json_for_scripts(ncgnn, here):
    shown = ncgnn("train", "karate", "--epochs", 2, *QUICK)
    assert re.search(r"│ +0 │ +[12] │ +[\d.]+% │ +[\d.]+% │ +[\d.]+ │ runs/karate +│", shown.out)
    parsed = json.loads(ncgnn("train", "karate", "--epochs", 2, *QUICK, "--json", "--overwrite").out)
    assert parsed == json.loads((here / "runs/karate/run.json").read_text())
    assert parsed["graph"]["name"] == "karate"


def test_several_splits_are_several_folders_and_a_mean(ncgnn, here):
    shown = ncgnn("train", "karate", "--epochs", 1, *QUICK, "--splits", 2, "--split-seed", 5)
    assert sorted(os.listdir(here / "runs/karate")) == ["split-5", "split-6"]
    assert (
        predictions(here / "runs/karate/split-5")["split"] != predictions(here / "runs/karate/split-6")["split"]
    ).any()
    again = ncgnn("train", "karate", "--epochs", 1, *QUICK, "--splits", 2, "--split-seed", 5, "--json", "--overwrite")
    runs = json.loads(again.out)
    assert [run["split"]["number"] for run in runs] == [5, 6]
    mean = sum(run["metrics"]["test_accuracy"] for run in runs) / 2
    assert re.search(rf"mean +│ +│ +[\d.]+% │ +{mean:.2%}", shown.out)


def test_splits_as_asked(ncgnn):
    def sizes(*options: object) -> tuple[int, int, int]:
        split = json.loads(ncgnn("train", "karate", "--epochs", 1, *QUICK, "--json", "--overwrite", *options).out)[
            "split"
        ]
        return split["train"], split["val"], split["test"]

    assert sizes("--per-class", 2, "--val", 10) == (8, 10, 16)
    assert sizes("--fractions", 0.5, 0.5)[2] == 0
    assert sizes()[0] == 20


def test_no_test_nodes_are_a_dash(ncgnn):
    shown = ncgnn("train", "karate", "--epochs", 1, *QUICK, "--fractions", 0.5, 0.5)
    assert re.search(r"% │ +- │", shown.out)


def test_a_named_graph_has_its_preset_which_options_change(ncgnn, here):
    def config(*options: object) -> dict:
        done = ncgnn("train", "karate", "--epochs", 1, *QUICK, "--json", "--overwrite", *options)
        return json.loads(done.out)["config"]

    assert config()["hops"] == [0, 1, 2]
    assert config("--set", "hops=[0, 3]")["hops"] == [0, 3]
    assert config("--set", "filter=diffusion")["filter"] == "diffusion"
    assert config("--filter", "diffusion", "--set", "filter=attention")["filter"] == "diffusion"
    (here / "c.toml").write_text(Config(dropout=0.3, hops=4).to_toml())
    assert config("--config", "c.toml")["hops"] == 4
    assert config("--config", "c.toml", "--set", "dropout=0.4")["dropout"] == 0.4


def test_a_graph_file_is_a_graph(ncgnn, here):
    save_graph(split_per_class(load_dataset("karate"), 3, 8), here / "club.npz")
    run = json.loads(ncgnn("train", "club.npz", "--epochs", 1, *QUICK, "--json").out)
    assert run["split"] == {"number": 0, "train": 12, "val": 8, "test": 14, "calibration": 0}


@pytest.mark.parametrize("name", ["../../escape", "/tmp/escape", "..", "", "a\nb"])
def test_no_graph_file_decides_on_a_folder_outside_runs(ncgnn, here, name):
    data = split_per_class(load_dataset("karate"), 3, 8)
    data.name = name
    save_graph(data, here / "club.npz")
    assert ncgnn("train", "club.npz", "--epochs", 1, *QUICK).code == 0
    assert sorted(os.listdir(here)) == ["club.npz", "runs"]
    assert len(os.listdir(here / "runs")) == 1
    assert sorted(os.listdir(next((here / "runs").iterdir()))) == FILES
    assert os.listdir(here.parent) == ["here"]


def test_names_are_not_markup(ncgnn, here, monkeypatch):
    data = split_per_class(load_dataset("karate"), 3, 8)
    data.name = "a[/b]c"
    save_graph(data, here / "club.npz")
    monkeypatch.setattr("ncgnn.cli.progress.is_terminal", lambda: True)
    done = ncgnn("train", "club.npz", "--epochs", 1, *QUICK, "--out", "[/b][red]")
    assert done.code == 0
    assert "a[/b]c split 0" in done.err
    assert "[/b][red]" in done.out


def test_a_picture_if_asked(ncgnn, here):
    ncgnn("train", "karate", "--epochs", 2, *QUICK, "--picture")
    assert (here / "runs/karate/capsules.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_letters_that_no_font_has_are_a_note(ncgnn, here):
    (here / "n.csv").write_text("id,f,y\n" + "".join(f"{i},{i % 2},𓀀{i % 2}\n" for i in range(30)))
    (here / "e.csv").write_text("source,target\n0,1\n")
    done = ncgnn("train", "--nodes", "n.csv", "--edges", "e.csv", "--label", "y", *QUICK, "--epochs", 1, "--picture")
    assert done.code == 0
    assert all(line.startswith("note: Glyph") for line in done.err.splitlines())
    assert (here / "runs/n/capsules.png").exists()


def test_columns_that_are_left_out_are_noted(ncgnn, here):
    rows = "".join(f"{i},{i % 2},comment {i},y{i % 2}\n" for i in range(120))
    (here / "n.csv").write_text("id,f,text,y\n" + rows)
    (here / "e.csv").write_text("source,target\n0,1\n")
    done = ncgnn("train", "--nodes", "n.csv", "--edges", "e.csv", "--label", "y", *QUICK, "--epochs", 1)
    assert done.code == 0
    assert re.fullmatch(r"note: n.csv, column 'text': 120 different values .* dropped\n", done.err)


def test_nothing_is_left_behind_but_the_four_files(ncgnn, here, old_run):
    ncgnn("train", "karate", "--epochs", 1, *QUICK, "--out", "runs/old", "--overwrite")
    assert sorted(os.listdir(old_run)) == FILES  # nor the picture of the run before
    assert set(contents(here)) == {"runs", "runs/old", *(f"runs/old/{name}" for name in os.listdir(old_run))}
