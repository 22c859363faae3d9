"""Graphs in memory-mapped files: reading one takes no memory that grows with its nodes."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os.path import isdir
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.batches.graph_files import check_graph
from ncgnn.batches.shards import Damaged, Shards
from ncgnn.batches.written import write_shards
from ncgnn.data import complete
from ncgnn.data.completion import checked
from ncgnn.data.graph import SPLITS
from ncgnn.errors import InputError
from ncgnn.sparse import CSR, Pattern

_PARTS = ("edge_index", "edge_weight", "y", *SPLITS)


def map_graph(folder: str | Path, data: Data) -> Data:
    """Write a graph to a folder of files, and return it as :func:`mapped_graph`; commands take the folder as a graph.

    Numbers of tables are stored as they are scaled now, so only graphs that do not come from tables can be stored.
    """
    data = complete(data)
    if data.get("encoding") is not None or data.get("edge_tables") is not None:
        raise InputError("graphs from tables are not stored in mapped files: give the tables to each command")
    arrays = {key: data[key].contiguous().numpy() for key in _PARTS if data.get(key) is not None}
    arrays |= _of_features(data.x)
    for key in ("node_ids", "node_titles", "class_names", "feature_names"):
        arrays |= {} if data.get(key) is None else _of_names(key, data[key])
    digest = hashlib.sha256()
    for key, array in arrays.items():
        digest.update(f"{key} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    key = f"graph {data.x.shape[1]} {digest.hexdigest()} {data.get('name') or Path(folder).name}"
    write_shards(Path(folder), key, int(data.num_nodes or 0), lambda part: arrays, int(data.num_nodes or 0))
    return mapped_graph(folder)


def is_mapped_graph(path: Any) -> bool:
    """Whether it is a folder that :func:`map_graph` wrote."""
    return isinstance(path, str | Path) and isdir(path) and any(Path(path).glob("*-node_ids_ends.npy"))


def mapped_graph(folder: str | Path) -> Data:
    """A graph whose pages are read from its files when they are used."""
    folder = Path(folder)
    with _damage_told():
        shards = Shards(folder)
        features, name = _described(folder, shards)
        arrays = shards.arrays(0)
    check_graph(folder, arrays, shards.rows, features)
    tensors = {key: torch.from_numpy(arrays[key]) for key in _PARTS if key in arrays}
    x = _features(arrays, features)
    keys = [key for key in ("node_ids", "node_titles") if f"{key}_ends" in arrays]
    names = {key: MappedNames(arrays[f"{key}_ends"], arrays[f"{key}_text"]) for key in keys}
    lists = {
        key: list(MappedNames(arrays[f"{key}_ends"], arrays[f"{key}_text"])) for key in ("class_names", "feature_names")
    }
    if len(set(lists["class_names"])) < len(lists["class_names"]):
        raise InputError(f"{folder}: not a graph: two classes have one name")
    return checked(Data(x=x, num_nodes=shards.rows, name=name, **tensors, **names, **lists))


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except Damaged as error:  # which says to delete the folder, as of one in a cache
        raise InputError(f"{error.path}: {error.reason}: store the graph again") from None


def _described(folder: Path, shards: Shards) -> tuple[int, str]:
    """The number of features, and the name of the graph."""
    found = re.fullmatch(r"graph (\d{1,18}) [0-9a-f]{64} (.*)", shards.manifest.key, re.DOTALL)
    if found is None or len(shards.firsts) != 1:
        raise InputError(f"{folder}: not a graph: its manifest describes something else")
    return int(found[1]), found[2]


class MappedNames(Sequence[str]):
    """Names in two arrays: where each ends [n], and their text one after another."""

    def __init__(self, ends: np.ndarray, text: np.ndarray) -> None:
        self._ends, self._text = ends, text

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        start = int(self._ends[number - 1]) if number else 0
        return bytes(self._text[start : int(self._ends[number])]).decode()


def _of_names(key: str, names: Sequence[str]) -> dict[str, np.ndarray]:
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    return {f"{key}_ends": ends, f"{key}_text": np.frombuffer(b"".join(encoded), np.uint8)}


def _of_features(x: torch.Tensor) -> dict[str, np.ndarray]:
    if x.layout == torch.strided:
        return {"x": x.contiguous().numpy()}
    parts = {"indptr": x.crow_indices(), "indices": x.col_indices(), "values": x.values()}
    return {f"x_{key}": part.numpy() for key, part in parts.items()}


def _features(arrays: dict[str, np.ndarray], columns: int) -> torch.Tensor:
    if "x" in arrays:
        return torch.from_numpy(arrays["x"])
    indptr, indices, values = (torch.from_numpy(arrays[f"x_{key}"]) for key in ("indptr", "indices", "values"))
    return CSR(Pattern(indptr, indices, columns), values).to_torch()
