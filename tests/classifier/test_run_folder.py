import csv
import json
import os
from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from ncgnn.classifier import NCGNNClassifier, run_folder
from ncgnn.classifier.run_folder import check_writable, prediction_table, write_run
from ncgnn.data.fingerprint import fingerprint
from ncgnn.errors import InputError
from ncgnn.models.ncgnn.config import Config
from ncgnn.provenance import commit
from ncgnn.report.picture import draw_capsules
from ncgnn.train import Epoch


@pytest.fixture(scope="module")
def folder(trained, karate, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "new" / "karate"
    write_run(path, trained, trained.scored(karate), split=3)
    return path


def test_a_run_folder_holds_four_files(folder):
    assert sorted(os.listdir(folder)) == ["history.csv", "model.safetensors", "predictions.csv", "run.json"]


def test_run_json_tells_all_that_is_needed_to_repeat_the_run(folder, trained, karate):
    run = json.loads((folder / "run.json").read_text())
    assert list(run) == ["command", "graph", "split", "model", "config", "metrics", "seconds", "commit", "versions"]
    assert run["graph"] == {"name": "karate", "fingerprint": fingerprint(karate), "nodes": 34}
    assert run["split"] == {"number": 3, "train": 12, "val": 8, "test": 14, "calibration": 0}
    assert run["model"] == "ncgnn"
    assert Config.make(run["config"]) == trained.config_
    assert run["metrics"]["best_epoch"] == trained.best_.epoch
    assert run["metrics"]["epochs"] == 15
    for key in ("train", "val", "test"):
        assert run["metrics"][f"{key}_accuracy"] == trained.score(karate, karate[f"{key}_mask"])
    assert run["versions"]["torch"] == torch.__version__
    assert set(run["versions"]) == {"python", "ncgnn", "torch", "torch-geometric", "numpy", "scipy", "numba"}


def test_the_commit_is_that_of_the_code_or_none(folder, trained, karate, tmp_path, monkeypatch):
    assert json.loads((folder / "run.json").read_text())["commit"] == (commit() or None)
    monkeypatch.setattr(run_folder, "commit", lambda: "")
    assert write_run(tmp_path / "run", trained, trained.scored(karate), 0)["commit"] is None


def test_the_history_is_a_table_of_epochs(folder, trained):
    with (folder / "history.csv").open() as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == Epoch._fields
    assert [Epoch(int(epoch), *map(float, rest)) for epoch, *rest in rows] == trained.history_


def test_the_predictions_are_those_of_the_model_beside_them(folder, karate):
    loaded = NCGNNClassifier.load(folder / "model.safetensors")
    table = pd.read_csv(folder / "predictions.csv", dtype={"id": str, "label": str, "predicted": str})
    assert list(table) == ["id", "label", "split", "predicted", "probability", "margin"]
    assert table["id"].tolist() == karate.node_ids
    assert table["label"].tolist() == [karate.class_names[c] for c in karate.y]
    assert table["predicted"].tolist() == loaded.predict(karate).astype(str).tolist()
    shares = np.sort(loaded.predict_proba(karate), axis=1)
    np.testing.assert_allclose(table["probability"], shares[:, -1], atol=1e-6)
    np.testing.assert_allclose(table["margin"], shares[:, -1] - shares[:, -2], atol=2e-6)
    for key in ("train", "val", "test"):
        assert (table["split"] == key).tolist() == karate[f"{key}_mask"].tolist()


def test_nodes_without_label_or_role_have_blanks(two_rings, small):
    made = NCGNNClassifier(**small | {"epochs": 1}).fit(two_rings)
    two_rings.y[-1], two_rings.test_mask[-1] = -1, False
    table = prediction_table(made.scored(two_rings))
    assert table.iloc[-1][["label", "split"]].tolist() == ["", ""]
    del two_rings.val_mask
    assert "split" not in prediction_table(made.scored(two_rings))


def test_a_graph_without_names_has_a_run_folder_too(two_rings, small, tmp_path):
    two_rings.test_mask[:] = False
    made = NCGNNClassifier(**small | {"epochs": 1})
    run = write_run(tmp_path, made, made.fit_scored(two_rings), 0)
    assert run["graph"]["name"] is None
    assert run["metrics"]["test_accuracy"] is None
    assert json.loads((tmp_path / "run.json").read_text()) == run


def test_writing_again_replaces_the_files(trained, karate, tmp_path):
    for name in ("run.json", "history.csv", "model.safetensors", "predictions.csv"):
        (tmp_path / name).write_text("old")
    write_run(tmp_path, trained, trained.scored(karate), 0)
    assert json.loads((tmp_path / "run.json").read_text())["split"]["number"] == 0
    assert len(os.listdir(tmp_path)) == 4


def test_a_folder_is_writable_if_it_or_the_nearest_above_it_is(tmp_path):
    check_writable(tmp_path)
    check_writable(tmp_path / "new" / "below")
    assert not (tmp_path / "new").exists()


def test_a_folder_below_a_file_or_a_dead_link_is_not_writable(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for place in ("file", "file/run", "link", "link/run"):
        with pytest.raises(InputError, match=f"{place}: cannot be written .* is not a writable folder"):
            check_writable(tmp_path / place)


def test_the_map_of_capsules_is_a_picture(trained, karate, tmp_path):
    draw_capsules(tmp_path / "c.png", trained.scored(karate))
    with Image.open(tmp_path / "c.png") as picture:
        assert picture.format == "PNG"
        assert picture.size == (1200, 900)
        colours = {colour for _, colour in picture.convert("RGB").getcolors(maxcolors=10**6)}
    assert len(colours) > 4  # not blank: white, black, and a colour for each class


def test_names_are_drawn_as_they_are(two_rings, small, tmp_path):
    two_rings.class_names = ["_hidden", r"$\no_{math$"]
    draw_capsules(tmp_path / "c.png", NCGNNClassifier(**small | {"epochs": 1}).fit_scored(two_rings))
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_a_graph_without_a_test_mask_has_a_run_folder_too(trained, karate, tmp_path):
    data = copy(karate)
    del data["test_mask"]
    run = write_run(tmp_path, trained, trained.scored(data), 0)
    assert run["split"]["test"] == 0
    assert run["metrics"]["test_accuracy"] is None
