"""Write a graph as an ``.npz`` file; the format is described in :mod:`ncgnn.data.npz`."""

from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.graph import SPLITS, feature_matrix, merge_edges
from ncgnn.data.npz import NAMES
from ncgnn.errors import InputError
from ncgnn.files import atomic


def save_graph(data: Data, path: str | Path) -> None:
    """Write ``data`` to ``path`` (.npz). A killed process leaves the old file or the new one, never half of one.

    The graph must be undirected and without self-loops, as every graph from this library is.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise InputError(f"{path}: graphs are saved as .npz files")
    arrays = _contents(data)
    with atomic(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def _contents(data: Data) -> dict[str, Any]:
    if data.x is None or data.y is None or data.edge_index is None:
        raise InputError("a graph to be saved needs x, y and edge_index")
    edges, weight = _edges(data)
    x = feature_matrix(data.x)
    out: dict[str, Any] = {"edges": edges, "labels": data.y.numpy()}
    out |= {"x_data": x.data, "x_indices": x.indices, "x_indptr": x.indptr, "x_shape": np.array(x.shape)}
    out |= {f"{key}s": data[key].numpy().T for key in SPLITS if key in data}
    out |= {key: _strings(key, data[key]) for key in NAMES if key in data}
    if data.get("name"):
        out["name"] = str(data.name)
    if weight is not None:
        out["edge_weight"] = weight
    if data.get("encoding") is not None:
        out["encoding"] = data.encoding.to_json()
    if data.get("numbers") is not None:
        out["numbers"] = data.numbers.numpy()
    return out


def _edges(data: Data) -> tuple[np.ndarray, np.ndarray | None]:
    pairs, count = data.edge_index.numpy().T, int(data.num_nodes or 0)
    once = pairs[:, 0] < pairs[:, 1]
    weight = None if data.get("edge_weight") is None else data.edge_weight.numpy()
    back = None if weight is None else merge_edges(pairs[~once], count, weight[~once])[1]
    edges, weight = merge_edges(pairs[once], count, None if weight is None else weight[once])
    if 2 * len(edges) != len(pairs) or not np.array_equal(edges, merge_edges(pairs, count)[0]):
        raise InputError("the graph is directed, or has self-loops or repeated edges: make it undirected to save it")
    if weight is not None and back is not None and not np.array_equal(weight, back):
        raise InputError("edges have other weights in the other direction: make the weights symmetric to save them")
    return edges.astype(np.int32), weight


def _strings(key: str, names: list[str]) -> np.ndarray:
    if any(name.endswith("\0") for name in names):
        raise InputError(f"{key} holds a name that ends in a NUL character, which an .npz file cannot keep: rename it")
    return np.array(names, dtype=np.str_)
