"""Whether the arrays of a mapped graph are a graph: anyone may have written them, and nothing looks at them again.

They are looked at part by part, so this takes no memory that grows with their size.
"""

from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path

import numpy as np

from ncgnn.data.graph import SPLITS
from ncgnn.errors import InputError

_PART = 1 << 20  # entries that are looked at together
_LEAST, _MOST = np.nextafter(0.0, 1.0).item(), np.finfo(np.float64).max.item()

_KINDS = {"i": "integers", "f": "floats", "b": "bool", "u": "bytes"}

Arrays = Mapping[str, np.ndarray]


def check_graph(folder: Path, arrays: Arrays, nodes: int, features: int) -> None:
    """:class:`InputError` unless these are the arrays of a graph of this size."""
    try:
        if not nodes or not features:
            raise ValueError(f"it has {nodes} nodes and {features} features")
        _check_nodes(arrays, nodes)
        _check_edges(arrays, nodes)
        _check_features(arrays, nodes, features)
        for key, count in (("node_ids", nodes), ("class_names", arrays["class_names_ends"].size)):
            _check_names(arrays, key, count)
        _check_names(arrays, "feature_names", features)
        if not {"node_titles_ends", "node_titles_text"}.isdisjoint(arrays):  # titles are optional
            _check_names(arrays, "node_titles", nodes)
    except KeyError as error:
        raise InputError(f"{folder}: not a graph: array {error} is missing") from None
    except ValueError as error:
        raise InputError(f"{folder}: not a graph: {error}") from None


def _check_nodes(arrays: Arrays, nodes: int) -> None:
    _check(arrays, "y", "i", (nodes,), -1, arrays["class_names_ends"].size - 1)
    for key in SPLITS:
        if key in arrays:
            _check(arrays, key, "b", (nodes, *arrays[key].shape[1:2]))


def _check_edges(arrays: Arrays, nodes: int) -> None:
    count = arrays["edge_index"].size // 2
    _check(arrays, "edge_index", "i", (2, count), 0, nodes - 1)
    if "edge_weight" in arrays:
        _check(arrays, "edge_weight", "f", (count,), _LEAST, _MOST)


def _check_features(arrays: Arrays, nodes: int, features: int) -> None:
    if "x" in arrays:
        _check(arrays, "x", "f", (nodes, features), -_MOST, _MOST)
        return
    count = arrays["x_values"].size
    _check(arrays, "x_values", "f", (count,), -_MOST, _MOST)
    _check(arrays, "x_indices", "i", (count,), 0, features - 1)
    _check(arrays, "x_indptr", "i", (nodes + 1,), 0, count)
    _check_ascending(arrays, "x_indptr", count)
    if arrays["x_indptr"][0]:
        raise ValueError("x_indptr does not begin with 0")


def _check_names(arrays: Arrays, key: str, count: int) -> None:
    """Whether every name ends where a character does."""
    ends, text = arrays[f"{key}_ends"], arrays[f"{key}_text"]
    _check(arrays, f"{key}_text", "u", (text.size,), 0, 255)
    _check(arrays, f"{key}_ends", "i", (count,), 0, text.size)
    _check_ascending(arrays, f"{key}_ends", text.size)
    _check_utf8(arrays, f"{key}_text")
    for part in _parts(ends):
        if (text[part[part < text.size]] & 0xC0 == 0x80).any():
            raise ValueError(f"{key}_ends divides a character")


def _check_utf8(arrays: Arrays, key: str) -> None:
    decoder = getincrementaldecoder("utf-8")()
    try:
        for part in _parts(arrays[key]):
            decoder.decode(part.tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise ValueError(f"{key} is not UTF-8") from None


def _check(arrays: Arrays, key: str, kind: str, shape: tuple[int, ...], low: float = -inf, high: float = inf) -> None:
    array = arrays[key]
    if array.shape != shape or array.dtype.kind != kind or not array.dtype.isnative:
        raise ValueError(f"{key} is {array.dtype} of shape {array.shape}, not {_KINDS[kind]} of shape {shape}")
    least, most = (array.min().item(), array.max().item()) if array.size else (low, high)
    if not low <= least <= most <= high:  # NaN is not
        raise ValueError(f"{key} has values from {least} to {most}, outside {low:g} to {high:g}")


def _check_ascending(arrays: Arrays, key: str, last: int) -> None:
    array = arrays[key]
    before = 0
    for part in _parts(array):
        if part[0] < before or (part[1:] < part[:-1]).any():
            raise ValueError(f"{key} descends")
        before = int(part[-1])
    if before != last:
        raise ValueError(f"{key} ends at {before}, not {last}")


def _parts(array: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(array), _PART):
        yield array[start : start + _PART]
