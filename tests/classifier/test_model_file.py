import json
import os
import pickle
import random
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import read_graph, split_stratified
from ncgnn.errors import InputError
from ncgnn.files import atomic


@pytest.fixture
def model(trained, tmp_path) -> Path:
    path = tmp_path / "m.safetensors"
    trained.save(path)
    return path


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("hidden", [(), ((3, 5), (2, 4))])
@pytest.mark.parametrize(
    "filter",
    [
        {"filter": "attention", "hops": [0, 2], "zeta_prior": [0.5, -1.0]},
        {"filter": "attention", "top_k": 3},
        {"filter": "diffusion", "alpha": 0.2},
        {"filter": "diffusion", "diffusion": "heat", "epsilon": 0.01},
    ],
)
def test_a_loaded_model_has_bitwise_the_scores_of_the_saved_one(tmp_path, two_rings, small, filter, hidden, layout):
    if layout == "sparse":
        two_rings.x = two_rings.x.relu().to_sparse_csr()
    settings = small | filter | {"hidden": hidden, "epochs": 3, "beta": 2.0, "normalize_features": True}
    saved = NCGNNClassifier(**settings).fit(two_rings)
    saved.save(tmp_path / "m.safetensors")
    loaded = NCGNNClassifier.load(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.decision_function(two_rings), saved.decision_function(two_rings))
    assert np.array_equal(loaded.transform(two_rings), saved.transform(two_rings))
    assert loaded.config == loaded.config_ == saved.config_


def test_names_are_kept(trained, model):
    loaded = NCGNNClassifier.load(model)
    assert np.array_equal(loaded.classes_, trained.classes_)
    assert np.array_equal(loaded.feature_names_in_, trained.feature_names_in_)
    assert loaded.n_features_in_ == trained.n_features_in_
    assert loaded.encoding_ is None


def test_the_encoding_of_tables_is_kept(tmp_path, small):
    nodes = pd.DataFrame({"id": range(20), "f": np.arange(20.0), "venue": ["KDD", "ÿ\n"] * 10, "y": ["a", "b"] * 10})
    edges = pd.DataFrame({"source": range(19), "target": range(1, 20)})
    data = split_stratified(read_graph(nodes, edges, label="y"))
    saved = NCGNNClassifier(**small | {"epochs": 1}).fit(data)
    saved.save(tmp_path / "m.safetensors")
    loaded = NCGNNClassifier.load(tmp_path / "m.safetensors")
    assert loaded.encoding_ == saved.encoding_
    assert loaded.feature_names_in_.tolist() == data.feature_names


def test_a_loaded_model_is_saved_to_the_same_bytes_every_time(model, tmp_path):
    loaded = NCGNNClassifier.load(model)
    for _ in range(5):
        loaded.save(tmp_path / "again.safetensors")
        assert (tmp_path / "again.safetensors").read_bytes() == model.read_bytes()


def test_loading_leaves_the_random_state_of_the_caller_alone(model):
    before = torch.get_rng_state()
    NCGNNClassifier.load(model)
    assert torch.equal(torch.get_rng_state(), before)


def refused(path: Path, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        NCGNNClassifier.load(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_cut_short_is_refused_wherever_it_is_cut(model):
    content = model.read_bytes()
    for length in (0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1):
        model.write_bytes(content[:length])
        refused(model, "not an ncgnn model file, or a damaged one")


def test_a_pickle_is_refused_and_not_executed(model, tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    for content in (pickle.dumps(Trap()), pickle.dumps({"state": [1, 2]})):
        model.write_bytes(content)
        refused(model, "not an ncgnn model file")
    torch.save({"weight": torch.ones(2)}, model)
    refused(model, "not an ncgnn model file")
    assert not (tmp_path / "executed").exists()


def test_a_file_that_is_not_there(tmp_path):
    refused(tmp_path / "none.safetensors", "no such model file")
    refused(tmp_path, "no such model file")


def test_somebody_elses_safetensors_file_is_refused(tmp_path):
    for metadata in (None, {"format": "pt"}):
        save_file({"weight": torch.ones(2)}, tmp_path / "m.safetensors", metadata)
        refused(tmp_path / "m.safetensors", "a safetensors file, but not an ncgnn model")


def rewrite(model: Path, header: str) -> None:
    """The same weights under another header."""
    save_file(load_file(model), model, {"ncgnn": header})


def header_of(model: Path) -> dict:
    with safe_open(model, framework="pt") as file:
        return json.loads(file.metadata()["ncgnn"])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "ncgnn-model-99", "damaged model file, or of another version: format: .* 'ncgnn-model-1'"),
        ("config", [1], "damaged model file, or of another version: config: "),
        ("config", {"future": 1}, "unknown key 'future'"),
        ("config", {"hops": -1}, "hops = -1"),
        ("config", {"hops": 4}, "damaged model file: the weights do not fit its configuration"),
        ("class_names", 3, "class_names: "),
        ("class_names", ["only one"], "class_names: "),
        ("class_names", ["a", 2], r"class_names\.1: "),
        ("class_names", ["a", "b"], "the weights do not fit its configuration"),
        ("feature_names", {}, "feature_names: "),
        ("feature_names", ["a"], "the weights do not fit its configuration"),
        ("encoding", 7, "encoding: "),
        ("encoding", "none", "damaged model file: not an encoding of table columns"),
    ],
)
def test_a_header_that_was_tampered_with_is_refused(model, key, value, message):
    rewrite(model, json.dumps(header_of(model) | {key: value}))
    refused(model, message)


@pytest.mark.parametrize("key", ["config", "class_names", "feature_names", "encoding"])
def test_a_header_must_be_complete(model, key):
    header = header_of(model)
    del header[key]
    rewrite(model, json.dumps(header))
    refused(model, f"damaged model file, or of another version: {key}: Field required")


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_header_must_be_json(model, text):
    rewrite(model, text)
    refused(model, "damaged model file, or of another version: header: ")


def test_a_header_with_any_bytes_overwritten_is_refused_or_harmless(model):
    """Whatever the damage, there is no other outcome than a model or one line."""
    content, choice = model.read_bytes(), random.Random(0)
    end = 8 + int.from_bytes(content[:8], "little")
    outcomes: Counter[int | str] = Counter()
    for _ in range(200):
        damaged = bytearray(content)
        for place in choice.choices(range(end), k=choice.randint(1, 4)):
            damaged[place] = choice.choice(b'"0[}-,\\\x00\xff')
        model.write_bytes(damaged)
        try:
            outcomes[NCGNNClassifier.load(model).n_features_in_] += 1
        except InputError as error:
            outcomes["refused"] += "\n" not in str(error)
    assert outcomes["refused"] + outcomes[34] == 200
    assert outcomes["refused"] > 150


def test_weights_that_are_missing_too_many_or_of_other_shape_are_refused(model):
    header, tensors = json.dumps(header_of(model)), load_file(model)
    name = next(iter(tensors))
    save_file(tensors | {"another": torch.ones(1)}, model, {"ncgnn": header})
    refused(model, "the weights do not fit its configuration")
    save_file(tensors | {name: torch.ones(1)}, model, {"ncgnn": header})
    refused(model, "the weights do not fit its configuration")
    save_file({key: value for key, value in tensors.items() if key != name}, model, {"ncgnn": header})
    refused(model, "the weights do not fit its configuration")


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "f.txt"
    with atomic(path) as file:
        file.write("näw")
        file.flush()
        assert not path.exists()
    assert path.read_text("utf-8") == "näw"
    assert os.listdir(tmp_path) == ["f.txt"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, fault):
    path = tmp_path / "f.txt"
    path.write_text("old")
    with pytest.raises(fault), atomic(path) as file:  # noqa: PT012 (the block is what is tested)
        file.write("new")
        raise fault
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["f.txt"]


def test_a_full_disk_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"f.txt: cannot be written \(No space left"), atomic(tmp_path / "f.txt"):
        raise OSError(28, os.strerror(28))
    assert not os.listdir(tmp_path)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f.txt").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "f.txt")
    with atomic(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "f.txt").read_text() == "new"


def test_what_is_not_a_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(InputError, match=f"{name}: cannot be written"), atomic(tmp_path / name) as file:
            file.write("new")
    with (
        pytest.raises(InputError, match=r"none/f.txt: cannot be written \(there is no folder .*none\)"),
        atomic(tmp_path / "none/f.txt"),
    ):
        pass
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
