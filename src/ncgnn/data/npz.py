"""Graphs in ``.npz`` files of plain arrays, without pickles, so files from any source are safe to open.

==============================================  ==============================================================
``edges``                                       (E, 2) integers: undirected edges, each once; of all edge tables
``edge_weight``                                 (E,) floats from 1e-30 to 1e30, optional
``x_data, x_indices, x_indptr, x_shape``        node features, CSR; or
``x``                                           (N, features) floats, node features, dense
``labels``                                      (N,) integers, -1 for a node without a label
``train_masks, val_masks, test_masks``          (S, N) bool, optional: S splits; (N,) for a single one
``class_names, feature_names, node_ids,``       strings, optional
``node_titles``
``name, encoding``                              one string each, optional
``numbers``                                     (N, columns) floats, optional: numbers before they were scaled
``edge_table_names, edge_table_directed``       (T,) strings and (T,) bool, optional: names of edge tables, and whether
                                                they have a direction
``edge_table_0_edges``, ...                     (E, 2) integers: source and target of the edges of table 0
``edge_table_0_weight``, ...                    (E,) floats from 1e-30 to 1e30, optional
==============================================  ==============================================================
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from ncgnn.data.archive import read_arrays
from ncgnn.data.edge_tables import EdgeTable, check_edge_tables, check_union, edge_table
from ncgnn.data.graph import (
    LEAST_WEIGHT,
    MOST_WEIGHT,
    SPLITS,
    both_directions,
    feature_matrix,
    feature_tensor,
    make_graph,
    merge_edges,
)
from ncgnn.data.names import check_text
from ncgnn.data.tables.encoding import Encoding
from ncgnn.errors import InputError
from ncgnn.files import atomic
from ncgnn.memory import check_memory

_NAMES = ("class_names", "feature_names", "node_ids", "node_titles")
_CSR = ("x_data", "x_indices", "x_indptr", "x_shape")
_CLASSES = 1000  # may have no names and no nodes
_NAME = 100  # bytes of a name that is made for a class, feature or node without one


def read_npz(path: str | Path) -> Data:
    """Read a graph in the format above, as written by :func:`save_graph`."""
    path = Path(path)
    arrays = _arrays(path)
    x = _features(path, arrays)
    count = x.shape[0]
    labels = _integers(path, "labels", arrays["labels"], (count,), low=-1, high=_last_class(arrays, count))
    edges = _integers(path, "edges", arrays["edges"], (*arrays["edges"].shape[:1], 2), low=0, high=count - 1)
    weight = _weights(path, arrays, "edge_weight", len(edges))
    edge_index, edge_weight = both_directions(*merge_edges(edges, count, weight))
    extra: dict[str, Any] = _names(path, arrays, (int(labels.max()) + 1, x.shape[1], count, count))
    extra |= _masks(path, arrays, count)
    if "edge_table_names" in arrays:
        extra["edge_tables"] = _edge_tables(path, arrays, count)
        check_union(extra["edge_tables"], edge_index, count, str(path))
    if "encoding" in arrays:
        extra["encoding"] = _encoding(path, _text(path, "encoding", arrays), x.shape[1])
        extra |= _numbers(path, arrays, (count, len(extra["encoding"].scaled)))
    return make_graph(
        _text(path, "name", arrays) if "name" in arrays else path.name[:-4],
        x if isinstance(x, torch.Tensor) else feature_tensor(x),
        edge_index,
        torch.from_numpy(labels),
        edge_weight=edge_weight,
        **extra,
    )


def save_graph(data: Data, path: str | Path) -> None:
    """Write ``data`` to ``path`` (.npz). Writing is atomic.

    The graph must be undirected and without self-loops, as every graph from this library is.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise InputError(f"{path}: graphs can only be saved as .npz files")
    arrays = _contents(data)
    with atomic(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def _arrays(path: Path) -> dict[str, np.ndarray]:
    arrays = read_arrays(path)
    required = ("edges", *(("x",) if "x" in arrays else _CSR), "labels")
    missing = [key for key in required if key not in arrays]
    if missing:
        raise InputError(f"{path}: array {missing[0]!r} is missing; required: {', '.join(required)}")
    labels = arrays["labels"]
    if labels.ndim == 2 and labels.shape[1] > 1:
        columns = f"array 'labels' has {labels.shape[1]} columns"
        raise InputError(f"{path}: {columns}, but a node has one class, not several: keep one column")
    if "edge_attr" in arrays:
        note = f"{path}: array 'edge_attr' is not used: give weights of edges as 'edge_weight'"
        warnings.warn(note, UserWarning, stacklevel=3)
    return arrays


def _features(path: Path, arrays: dict[str, np.ndarray]) -> torch.Tensor | sp.csr_array:
    """Dense or sparse, as they were saved."""
    x = _dense(path, arrays["x"]) if "x" in arrays else _sparse(path, arrays)
    values, what = (x, "x") if isinstance(x, np.ndarray) else (x.data, "x_data")
    if not np.isfinite(values).all():
        raise InputError(f"{path}: array {what!r} contains non-finite values: replace them")
    if 0 in x.shape:
        raise InputError(f"{path}: the graph has {x.shape[0]} nodes and {x.shape[1]} features; both must be positive")
    if "feature_names" not in arrays:
        check_memory(_NAME * x.shape[1], f"{path}: numbering {x.shape[1]} features", "correct array 'x_shape'")
    return torch.from_numpy(x) if isinstance(x, np.ndarray) else x


def _dense(path: Path, x: np.ndarray) -> np.ndarray:
    if x.ndim != 2 or x.dtype.kind not in "fiub":
        raise InputError(f"{path}: array 'x' must be numbers of shape (nodes, features), not {x.dtype} {x.shape}")
    return np.ascontiguousarray(x, np.float32)


def _sparse(path: Path, arrays: dict[str, np.ndarray]) -> sp.csr_array:
    indices, indptr, shape = (arrays[f"x_{key}"] for key in ("indices", "indptr", "shape"))
    try:
        if shape.shape != (2,) or any(part.dtype.kind not in "iu" for part in (indices, indptr, shape)):
            raise ValueError("indices, indptr and shape must be integers")
        if shape[0] != len(indptr) - 1:  # before SciPy makes anything of that size
            raise ValueError(f"x_shape has {shape[0]} rows, x_indptr {len(indptr) - 1}")
        x = sp.csr_array((arrays["x_data"].astype(np.float32), indices, indptr), shape=tuple(shape.tolist()))
        x.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: arrays 'x_data' to 'x_shape' are not a CSR matrix ({error})") from error
    return x


def _integers(
    path: Path, key: str, values: np.ndarray, shape: tuple[int, ...], low: int, high: float = np.inf
) -> np.ndarray:
    if values.shape != shape or values.dtype.kind not in "iu":
        raise InputError(f"{path}: array {key!r} must be integers of shape {shape}, not {values.dtype} {values.shape}")
    if values.size and (values.min() < low or values.max() > high):
        raise InputError(f"{path}: array {key!r} has values {values.min()} to {values.max()}, outside {low} to {high}")
    return values.astype(np.int64)


def _last_class(arrays: dict[str, np.ndarray], nodes: int) -> int:
    """The largest label there may be: a class may have no nodes, but a billion of them are a mistake."""
    return max(nodes, _CLASSES, arrays["class_names"].size if "class_names" in arrays else 0) - 1


def _weights(path: Path, arrays: dict[str, np.ndarray], key: str, count: int) -> np.ndarray | None:
    weight = arrays.get(key)
    if weight is None:
        return None
    if weight.shape != (count,) or weight.dtype.kind not in "fiu":
        raise InputError(f"{path}: array {key!r} must be {count} numbers, not {weight.dtype} {weight.shape}")
    if not ((weight >= LEAST_WEIGHT) & (weight <= MOST_WEIGHT)).all():
        raise InputError(f"{path}: array {key!r} must be between {LEAST_WEIGHT:g} and {MOST_WEIGHT:g}")
    return weight


def _edge_tables(path: Path, arrays: dict[str, np.ndarray], count: int) -> dict[str, EdgeTable]:
    names = _strings_of(path, "edge_table_names", arrays["edge_table_names"])
    directed = np.atleast_1d(arrays.get("edge_table_directed", np.ones(len(names), bool)))
    if directed.shape != (len(names),) or directed.dtype != bool:
        raise InputError(f"{path}: array 'edge_table_directed' must be {len(names)} bool, not {directed.dtype}")
    if len({name.strip() for name in names} - {""}) != len(names) or not names:
        raise InputError(f"{path}: array 'edge_table_names' must be different names, not {', '.join(map(repr, names))}")
    tables = {}
    for i, (name, is_directed) in enumerate(zip(names, directed, strict=True)):
        key = f"edge_table_{i}_edges"
        if key not in arrays:
            raise InputError(f"{path}: array {key!r} is missing, the edges of table {name!r}")
        pairs = _integers(path, key, arrays[key], (*arrays[key].shape[:1], 2), low=0, high=count - 1)
        weight = _weights(path, arrays, f"edge_table_{i}_weight", len(pairs))
        tables[name] = edge_table(pairs, count, weight, is_directed=bool(is_directed))
    return tables


def _encoding(path: Path, text: str, width: int) -> Encoding:
    try:
        encoding = Encoding.from_json(text)
    except InputError as error:
        raise InputError(f"{path}: array 'encoding' is {error}") from None
    if len(encoding.feature_names) != width:
        raise InputError(f"{path}: array 'encoding' describes {len(encoding.feature_names)} features, x has {width}")
    return encoding


def _numbers(path: Path, arrays: dict[str, np.ndarray], shape: tuple[int, int]) -> dict[str, torch.Tensor]:
    numbers = arrays.get("numbers")
    if numbers is None:
        return {}
    if numbers.shape != shape or numbers.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: array 'numbers' must be numbers of shape {shape}, not {numbers.dtype} {numbers.shape}"
        )
    return {"numbers": torch.from_numpy(numbers.astype(np.float64))}


def _names(path: Path, arrays: dict[str, np.ndarray], counts: tuple[int, ...]) -> dict[str, Any]:
    out = {}
    for key, count in zip(_NAMES, counts, strict=True):
        if key not in arrays:
            continue
        # a class may have a name but no nodes
        fits = arrays[key].size >= count if key == "class_names" else arrays[key].size == count
        if arrays[key].ndim != 1 or not fits:
            raise InputError(f"{path}: array {key!r} has shape {arrays[key].shape}, but {count} names are needed")
        out[key] = _strings_of(path, key, arrays[key])
    return out


def _text(path: Path, key: str, arrays: dict[str, np.ndarray]) -> str:
    """The array's one string."""
    if arrays[key].size != 1:
        raise InputError(f"{path}: array {key!r} must be one string, not {arrays[key].dtype} {arrays[key].shape}")
    return _strings_of(path, key, arrays[key])[0]


def _strings_of(path: Path, key: str, array: np.ndarray) -> list[str]:
    try:
        names = [str(name) for name in np.atleast_1d(array).tolist()]
    except (ValueError, UnicodeDecodeError) as error:  # numbers that are no characters
        raise InputError(f"{path}: array {key!r} is not text ({error})") from None
    check_text(names, f"{path}: array {key!r}")
    return names


def _masks(path: Path, arrays: dict[str, np.ndarray], count: int) -> dict[str, torch.Tensor]:
    found = {key: arrays[f"{key}s"] for key in SPLITS if f"{key}s" in arrays}
    for key, mask in found.items():
        if mask.dtype != bool or mask.ndim not in (1, 2) or mask.shape[-1] != count:
            raise InputError(f"{path}: array '{key}s' must be (splits, {count}) bool, not {mask.dtype} {mask.shape}")
    if len({mask.size for mask in found.values()}) > 1:
        raise InputError(f"{path}: arrays {', '.join(f'{key}s' for key in found)} have different numbers of splits")
    return {key: torch.from_numpy(np.ascontiguousarray(mask.T)) for key, mask in found.items()}


def _contents(data: Data) -> dict[str, Any]:
    if data.x is None or data.y is None or data.edge_index is None:
        raise InputError("saving a graph requires x, y and edge_index")
    edges, weight = _edges(data)
    out: dict[str, Any] = {"edges": edges, "labels": data.y.numpy()}
    if data.x.layout is torch.strided:
        out["x"] = data.x.numpy().astype(np.float32, copy=False)
    else:
        x = feature_matrix(data.x)
        out |= {"x_data": x.data, "x_indices": x.indices, "x_indptr": x.indptr, "x_shape": np.array(x.shape)}
    out |= {f"{key}s": data[key].numpy().T for key in SPLITS if key in data}
    out |= {key: _strings(key, data[key]) for key in _NAMES if key in data}
    if data.get("name"):
        out["name"] = str(data.name)
    if weight is not None:
        out["edge_weight"] = weight
    if data.get("encoding") is not None:
        out["encoding"] = data.encoding.to_json()
    if data.get("numbers") is not None:
        out["numbers"] = data.numbers.numpy()
    if data.get("edge_tables") is not None:
        out |= _table_contents(data)
    return out


def _table_contents(data: Data) -> dict[str, np.ndarray]:
    tables, nodes = data.edge_tables, int(data.num_nodes or 0)
    check_edge_tables(tables, nodes)
    check_union(tables, data.edge_index, nodes, "the graph")
    out = {
        "edge_table_names": _strings("edge_tables", list(tables)),
        "edge_table_directed": np.array([table.is_directed for table in tables.values()]),
    }
    for i, table in enumerate(tables.values()):
        ends = table.edge_index.numpy()
        listed = np.ones(ends.shape[1], bool) if table.is_directed else ends[0] < ends[1]
        out[f"edge_table_{i}_edges"] = ends[:, listed].T.astype(np.int32)
        if table.edge_weight is not None:
            out[f"edge_table_{i}_weight"] = table.edge_weight.numpy()[listed]
    return out


def _edges(data: Data) -> tuple[np.ndarray, np.ndarray | None]:
    pairs, count = data.edge_index.numpy().T, int(data.num_nodes or 0)
    once = pairs[:, 0] < pairs[:, 1]
    weight = None if data.get("edge_weight") is None else data.edge_weight.numpy()
    back = None if weight is None else merge_edges(pairs[~once], count, weight[~once])[1]
    edges, weight = merge_edges(pairs[once], count, None if weight is None else weight[once])
    if 2 * len(edges) != len(pairs) or not np.array_equal(edges, merge_edges(pairs, count)[0]):
        raise InputError("the graph is directed, or has self-loops or repeated edges: make it undirected before saving")
    if weight is not None and back is not None and not np.array_equal(weight, back):
        raise InputError("edge weights differ between the two directions: make them symmetric before saving")
    return edges.astype(np.int32), weight


def _strings(key: str, names: list[str]) -> np.ndarray:
    if any(name.endswith("\0") for name in names):
        raise InputError(f"{key} contains a name that ends in NUL, which .npz files cannot store: rename it")
    return np.array(names, dtype=np.str_)
