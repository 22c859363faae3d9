"""Graphs in ``.npz`` files that are not what they say."""

import shutil
from collections.abc import Callable

import numpy as np
import pytest

from helpers.hostile.archives import declared_larger
from helpers.hostile.sound import CHEAP

TRAIN = [*CHEAP, "--out", "made"]


@pytest.fixture
def altered(sound, tmp_path) -> Callable[..., str]:
    """A graph with other arrays; None leaves one out."""

    def write(**changes) -> str:
        with np.load(sound / "graph.npz") as found:
            arrays = {key: found[key] for key in found.files} | changes
        np.savez(tmp_path / "bad.npz", **{key: array for key, array in arrays.items() if array is not None})
        return "bad.npz"

    return write


def with_half(names: np.ndarray) -> np.ndarray:
    return np.array(["a\ud800", *names[1:].tolist()])


@pytest.mark.parametrize("key", ["node_titles", "node_ids", "class_names", "feature_names"])
@pytest.mark.parametrize("verb", ["train", "serve"])
def test_half_a_character_in_a_name(refuses, altered, sound, key, verb):
    with np.load(sound / "graph.npz") as found:
        bad = altered(**{key: with_half(found[key])})
    arguments = [bad, *TRAIN] if verb == "train" else [sound / "ncgnn.safetensors", bad, "--port", "0"]
    refuses(verb, *arguments, message=rf"bad.npz: array '{key}', entry 0: 'a\\ud800' is not valid Unicode")


def test_half_a_character_in_the_name_of_the_graph(refuses, altered):
    refuses("train", altered(name=np.array("a\ud800")), *TRAIN, message="array 'name', entry 0: .* is not valid")


def test_arrays_that_declare_more_than_they_hold(refuses, altered, tmp_path):
    path = tmp_path / altered()
    path.write_bytes(declared_larger(path.read_bytes()))
    refuses("check", "bad.npz", message="bad.npz: not a readable .npz file of plain arrays .array '.*' is cut off")


def test_a_single_enormous_label(refuses, altered, sound):
    with np.load(sound / "graph.npz") as found:
        labels = found["labels"].astype(np.int64)
    labels[3] = 10**9
    message = "bad.npz: array 'labels' has values .* to 1000000000"
    refuses("train", altered(labels=labels, class_names=None), *TRAIN, message=message)


def test_features_of_a_billion_columns(refuses, altered):
    sparse = {"x_data": np.ones(1), "x_indices": np.zeros(1, int), "x_indptr": np.array([0, *[1] * 24])}
    bad = altered(x=None, **sparse, x_shape=np.array([24, 10**9]), feature_names=None)
    refuses("train", bad, *TRAIN, message=r"would take [\d.]+ GB of memory, and [\d.]+ (GB|MB) are free")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"(24, 3)", b"(24, 3000000000)", "it is cut off"),
        (b"(24, 3)", b"(24000000000, 3)", "it is cut off"),
        (b"'<f8'", b"'|O' ", "it contains pickles"),
        (b"(24, 3)", b"(72,  )", "must hold numbers of shape .nodes, numbers per node."),
        (b"(24, 3)", b"(12, 6)", "has 12 rows, but the table beside it has 24"),
        (b"(24, 3)", b"(24, (3", "not a readable .npy file"),
    ],
    ids=["columns", "rows", "pickle", "flat", "other rows", "no header"],
)
def test_vectors_beside_a_table(refuses, sound, tmp_path, old, new, message):
    shutil.copytree(sound / "own", tmp_path, dirs_exist_ok=True)
    content = (sound / "own" / "nodes.npy").read_bytes()
    assert old in content
    (tmp_path / "nodes.npy").write_bytes(content.replace(old, new))
    tables = ["--nodes", "nodes.csv", "--edges", "cites.csv", "--label", "topic"]
    refuses("check", *tables, message=f"nodes.npy: .*{message}")
