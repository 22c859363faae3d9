"""Write a graph as an ``.npz`` file; the format is described in :mod:`ncgnn.data.npz`."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.graph import SPLITS, feature_matrix, merge_edges
from ncgnn.data.npz import NAMES
from ncgnn.errors import InputError


def save_graph(data: Data, path: str | Path) -> None:
    """Write ``data`` to ``path`` (.npz). A killed process leaves the old file or the new one, never half of one.

    The graph must be undirected and without self-loops, as every graph from this library is.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise InputError(f"{path}: graphs are saved as .npz files")
    arrays = _contents(data)
    try:
        _write(arrays, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error


def _write(arrays: dict[str, Any], path: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez_compressed(file, **arrays)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _contents(data: Data) -> dict[str, Any]:
    if data.x is None or data.y is None or data.edge_index is None:
        raise InputError("a graph to be saved needs x, y and edge_index")
    edges, weight = _edges(data)
    x = feature_matrix(data.x)
    out: dict[str, Any] = {"edges": edges, "labels": data.y.numpy(), "name": str(data.get("name", ""))}
    out |= {"x_data": x.data, "x_indices": x.indices, "x_indptr": x.indptr, "x_shape": np.array(x.shape)}
    out |= {f"{key}s": data[key].numpy().T for key in SPLITS if key in data}
    out |= {key: _strings(key, data[key]) for key in NAMES if key in data}
    if weight is not None:
        out["edge_weight"] = weight
    if data.get("encoding") is not None:
        out["encoding"] = data.encoding.to_json()
    return out


def _edges(data: Data) -> tuple[np.ndarray, np.ndarray | None]:
    pairs, count = data.edge_index.numpy().T, int(data.num_nodes or 0)
    once = pairs[:, 0] < pairs[:, 1]
    weight = None if data.get("edge_weight") is None else data.edge_weight.numpy()[once]
    edges, weight = merge_edges(pairs[once], count, weight)
    if 2 * len(edges) != len(pairs) or not np.array_equal(edges, merge_edges(pairs, count)[0]):
        raise InputError("the graph is directed, or has self-loops or repeated edges: make it undirected to save it")
    return edges.astype(np.int32), weight


def _strings(key: str, names: list[str]) -> np.ndarray:
    if any(name.endswith("\0") for name in names):
        raise InputError(f"{key} holds a name that ends in a NUL character, which an .npz file cannot keep: rename it")
    return np.array(names, dtype=np.str_)
