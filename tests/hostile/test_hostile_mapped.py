"""Graphs in memory-mapped files that are not what they say, whose checksums fit all the same."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.hostile.sound import CHEAP
from ncgnn.batches import map_graph
from ncgnn.batches.shards import File, Manifest
from ncgnn.data.npz import read_npz


@pytest.fixture
def altered(sound, tmp_path) -> Callable[..., None]:
    """Write ``graph``, a mapped graph with other arrays; None leaves one out."""

    def write(rows: int | None = None, key: str | None = None, is_sparse: bool = False, **changes) -> None:
        folder = tmp_path / "graph"
        if is_sparse:
            data = read_npz(sound / "graph.npz")
            data.x = data.x.to_dense().to_sparse_csr()
            map_graph(folder, data)
        else:
            shutil.copytree(sound / "mapped", folder)
        found = Manifest.model_validate_json((folder / "manifest.json").read_bytes())
        (shard,) = found.shards
        for name, change in changes.items():
            path = folder / f"000000000000-{name}.npy"
            if change is None:
                path.unlink()
                del shard.files[name]
            else:
                _store(path, change(np.load(path)))
                shard.files[name] = File(path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        found.rows = shard.rows = found.rows if rows is None else rows
        found.key = found.key if key is None else key
        (folder / "manifest.json").write_text(found.sealed.model_dump_json())

    return write


def _store(path: Path, changed: np.ndarray | bytes) -> None:
    path.write_bytes(changed) if isinstance(changed, bytes) else np.save(path, changed)


def but(place: int, value: object) -> Callable[[np.ndarray], np.ndarray]:
    """One other value."""

    def change(array: np.ndarray) -> np.ndarray:
        array.flat[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("y", None, "array 'y' is missing"),
        ("y", but(0, 2), "y has values from 0 to 2, outside -1 to 1"),
        ("y", lambda y: y[:5], r"y is int64 of shape .5,., not integers of shape .24,."),
        ("y", lambda y: y.astype(float), "y is float64 of shape .24,., not integers"),
        ("edge_index", but(3, 24), "edge_index has values from 0 to 24, outside 0 to 23"),
        ("edge_index", but(3, -1), "edge_index has values from -1 to 23"),
        ("edge_index", np.ravel, "edge_index is int64 of shape .96,., not integers of shape .2, 48."),
        ("x", but(5, np.nan), "x has values from nan"),
        ("x", lambda x: x[:, :2], "x is float32 of shape .24, 2., not floats of shape .24, 3."),
        ("x", lambda x: x.astype(">f4"), "x is >f4"),
        ("train_mask", lambda mask: mask[:2], "train_mask is bool of shape .2,., not bool of shape .24,."),
        ("node_ids_ends", but(-1, 10**12), "node_ids_ends has values from 2 to 1000000000000, outside 0 to 62"),
        ("node_ids_ends", but(1, 1), "node_ids_ends descends"),
        ("node_ids_text", but(1, 255), "node_ids_text is not UTF-8"),
        ("node_titles_text", but(1, 255), "node_titles_text is not UTF-8"),
        ("node_titles_ends", None, "array 'node_titles_ends' is missing"),
        ("node_titles_ends", lambda ends: ends[:5], r"node_titles_ends is int64 of shape .5,., not"),
        ("class_names_text", but(0, ord("b")), "two classes have one name"),
    ],
    ids=lambda value: None if callable(value) else str(value)[:30],
)
def test_arrays_that_are_no_graph(refuses, altered, name, change, message):
    altered(**{name: change})
    refuses("train", "graph", *CHEAP, "--out", "made", message=f"^ncgnn: graph: not a graph: {message}")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("x_indices", but(0, 10**6), "x_indices has values from 0 to 1000000, outside 0 to 2"),
        ("x_indptr", but(3, 10**12), "x_indptr has values from 0 to 1000000000000"),
        ("x_indptr", but(3, 0), "x_indptr descends"),
        ("x_indptr", but(0, 1), "x_indptr does not begin with 0"),
        ("x_values", but(0, np.inf), "x_values has values from .* to inf"),
    ],
)
def test_sparse_features_that_point_elsewhere(refuses, altered, sound, name, change, message):
    altered(is_sparse=True, **{name: change})
    refuses("predict", sound / "ncgnn.safetensors", "graph", message=f"^ncgnn: graph: not a graph: {message}")


@pytest.mark.parametrize(
    "content", [b"", b"no array", b"\x93NUMPY\x01\x00\x08\x00(24, (3\n", b"\x93NUMPY\x01\x00\x02\x00()"], ids=repr
)
def test_files_that_are_no_arrays(refuses, altered, content):
    altered(x=lambda _: content)
    refuses("check", "graph", message="^ncgnn: graph/000000000000-x.npy: is not an array: store the graph again$")


@pytest.mark.parametrize("name", ["manifest.json", "000000000000-x.npy"])
def test_a_pipe_is_not_waited_for(refuses, altered, tmp_path, name):
    altered(x=lambda _: b"")  # as long as a pipe
    (tmp_path / "graph" / name).unlink()
    os.mkfifo(tmp_path / "graph" / name)
    refuses("check", "graph", message=f"^ncgnn: graph/{name}: is not a regular file: store the graph again$")


@pytest.mark.parametrize("key", ["rows", "graph", "graph x y z", "graph -3 0 a"])
def test_a_manifest_of_something_else(refuses, altered, key):
    altered(key=key)
    refuses("check", "graph", message="^ncgnn: graph: not a graph: its manifest describes something else$")


def test_a_manifest_of_a_billion_nodes(refuses, altered):
    altered(rows=10**9)
    refuses("check", "graph", message=r"^ncgnn: graph: not a graph: y is int64 of shape .24,.")


def test_a_name_that_ends_within_a_character(refuses, altered):
    altered(
        node_ids_text=lambda text: np.frombuffer("é".encode() * (text.size // 2), np.uint8), node_ids_ends=but(0, 1)
    )
    refuses("check", "graph", message="^ncgnn: graph: not a graph: node_ids_ends divides a character$")
