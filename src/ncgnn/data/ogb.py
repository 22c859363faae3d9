"""Graphs of the Open Graph Benchmark for node classification, read from their folders as they lie on disk.

================================================  ============================================================
``raw/edge.csv.gz``                               source and target of each edge, without a header, like all of
                                                  ``raw`` and ``split``
``raw/node-feat.csv.gz, raw/node-label.csv.gz``   features and class of each node
``raw/num-node-list.csv.gz``                      the number of nodes
``raw/data.npz, raw/node-label.npz``              the same for large graphs: ``edge_index`` [2, E], ``node_feat``,
                                                  ``num_nodes_list``, and ``node_label``, NaN where unknown
``split/NAME/{train,valid,test}.csv.gz``          the nodes of each part of the split
``mapping/labelidx2....csv.gz``                   names of the classes, optional, with a header
``mapping/nodeidx2....csv.gz``                    ids of the nodes, optional, with a header
================================================  ============================================================
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.csv
import torch
from torch_geometric.data import Data

from ncgnn.data.archive import read_arrays
from ncgnn.data.graph import PARTS, both_directions, make_graph, merge_edges
from ncgnn.errors import InputError
from ncgnn.memory import check_memory

_CLASSES = 1000  # allowed, however few nodes there are
_COPIES = 2  # of numbers, until they are an array
_FILES = {"train": "train", "val": "valid", "test": "test"}


def is_ogb(graph: Any) -> bool:
    """Whether it is the path of such a folder."""
    return isinstance(graph, str | Path) and all(os.path.isdir(Path(graph) / part) for part in ("raw", "split"))


def ogb_files(folder: Path) -> list[Path]:
    """The files of such a folder, in a fixed order."""
    found = (path for part in ("raw", "split", "mapping") for path in (folder / part).rglob("*"))
    return sorted(path for path in found if path.is_file())


def read_ogb(folder: str | Path) -> Data:
    """The graph with its split; edges lose their direction."""
    folder = Path(folder).resolve()
    raw = folder / "raw"
    if (raw / "relations").exists() or (raw / "num-node-dict.csv.gz").exists():
        raise InputError(f"{folder}: has several kinds of nodes, which are not supported")
    x, pairs, labels = _from_arrays(raw) if (raw / "data.npz").exists() else _from_tables(raw)
    nodes = len(x)
    _check_nodes(pairs, nodes, raw, "edges")
    y = _classes(labels, nodes, raw)
    names, ids = _names(folder, "labelidx2", int(y.max()) + 1), _names(folder, "nodeidx2", nodes)
    return make_graph(
        folder.name,
        torch.from_numpy(x),
        both_directions(merge_edges(pairs, nodes)[0])[0],
        torch.from_numpy(y),
        class_names=names,
        node_ids=ids,
        **_masks(folder, nodes),
    )


def _from_tables(raw: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = _numbers(raw / "node-feat.csv.gz", pa.float32())
    nodes = _numbers(raw / "num-node-list.csv.gz", pa.int64()).ravel().tolist()
    if nodes != [len(x)]:
        told = ", ".join(map(str, nodes[:3])) or "no"
        raise InputError(f"{raw}: node-feat.csv.gz has {len(x)} rows, but num-node-list.csv.gz says {told} nodes")
    pairs = _numbers(raw / "edge.csv.gz", pa.int64())
    return _finite(x, raw), pairs, _numbers(raw / "node-label.csv.gz", pa.float64())


def _from_arrays(raw: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    arrays, labels = read_arrays(raw / "data.npz"), read_arrays(raw / "node-label.npz")
    x, pairs, y = arrays.get("node_feat"), arrays.get("edge_index"), labels.get("node_label")
    if x is None or x.ndim != 2 or x.dtype.kind != "f" or not _is_pairs(pairs):
        raise InputError(f"{raw / 'data.npz'}: needs node_feat [nodes, features] and edge_index [2, edges]")
    if y is None or y.dtype.kind not in "fiu":
        raise InputError(f"{raw / 'node-label.npz'}: needs the numbers node_label, one for each node")
    return _finite(np.asarray(x, np.float32), raw), pairs.T, y


def _is_pairs(found: np.ndarray | None) -> TypeGuard[np.ndarray]:
    return found is not None and found.ndim == 2 and len(found) == 2 and found.dtype.kind in "iu"


def _numbers(path: Path, kind: pa.DataType) -> np.ndarray:
    """A table without a header, all columns of one type."""
    read = pa.csv.ReadOptions(autogenerate_column_names=True)
    with _one_line(path):
        names = pa.csv.open_csv(path, read_options=read).schema.names
        convert = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, kind), null_values=["", "nan", "NaN"])
        with pa.csv.open_csv(path, read_options=read, convert_options=convert) as reader:
            table = pa.Table.from_batches(_in_memory(reader, path), reader.schema)
    out = np.empty((len(table), len(names)), kind.to_pandas_dtype())
    for number, column in enumerate(table.columns):
        out[:, number] = column.to_numpy()
    return out


def _in_memory(batches: Iterable[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    """One part after the other, because a small packed file may hold any amount."""
    total = 0
    for batch in batches:
        total += batch.nbytes
        check_memory(_COPIES * total, f"{path}: reading {total >> 20} MB of numbers", "use a smaller graph")
        yield batch


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """What is wrong with a file as :class:`InputError`."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: cannot be read (not a regular file)")
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, IndexError) as error:
        raise InputError(f"{path}: cannot be read ({' '.join(str(error).split())[:200]})") from error


def _finite(x: np.ndarray, raw: Path) -> np.ndarray:
    if not len(x):
        raise InputError(f"{raw}: there are no nodes")
    if not x.shape[1] or not np.isfinite(x).all():
        raise InputError(f"{raw}: the features of the nodes must be finite numbers, at least one for each node")
    return x


def _classes(labels: np.ndarray, nodes: int, raw: Path) -> np.ndarray:
    """The class of each node, -1 if unknown."""
    if labels.reshape(-1).shape != (nodes,):
        raise InputError(f"{raw}: the labels have shape {labels.shape} for {nodes} nodes: one class each is needed")
    values = np.where(np.isnan(labels.reshape(-1).astype(np.float64)), -1, labels.reshape(-1))
    last = max(nodes, _CLASSES) - 1
    if values.min() < -1 or not 0 <= values.max() <= last or (values != np.floor(values)).any():
        raise InputError(f"{raw}: the labels must be class numbers from 0 to {last} at most")
    return values.astype(np.int64)


def _names(folder: Path, start: str, count: int) -> list[str] | None:
    """The names of the first ``count`` classes or nodes, or None if there is no such table."""
    path = next(iter(sorted((folder / "mapping").glob(f"{start}*.csv.gz"))), None)
    if path is None:
        return None
    with _one_line(path):
        table = pa.csv.read_csv(path)
        order = np.argsort(table.column(0).to_numpy(), kind="stable")
        names: list[str] = table.column(1).cast(pa.string()).take(pa.array(order)).to_pylist()
    if len(names) < count or len(set(names)) < len(names):
        raise InputError(f"{path}: needs {count} different names")
    return names


def _masks(folder: Path, nodes: int) -> dict[str, Any]:
    splits = sorted(path for path in (folder / "split").iterdir() if path.is_dir())
    if len(splits) != 1:
        raise InputError(f"{folder / 'split'}: must contain one folder, not {len(splits)}")
    masks = {}
    for part in PARTS:
        path = splits[0] / f"{_FILES[part]}.csv.gz"
        chosen = _numbers(path, pa.int64()).ravel()
        _check_nodes(chosen, nodes, path, "nodes")
        masks[f"{part}_mask"] = mask = torch.zeros(nodes, dtype=torch.bool)
        mask[torch.from_numpy(chosen)] = True
    return masks


def _check_nodes(found: np.ndarray, nodes: int, where: Path, what: str) -> None:
    if what == "edges" and found.shape[1:] != (2,):
        raise InputError(f"{where}: an edge has two ends, not {found.shape[1]}")
    if found.size and not 0 <= found.min() <= found.max() < nodes:
        raise InputError(f"{where}: {what} outside 0 to {nodes - 1}")
