"""Folders laid out like those of the Open Graph Benchmark."""

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data


def write_tables(folder: Path, graph: Data) -> None:
    """As ``ogbn-arxiv``: a table for each kind of thing, with names of classes and ids of nodes."""
    nodes, edges = int(graph.num_nodes or 0), _once(graph)
    _write_split(folder, nodes)
    write_table(folder / "raw/edge.csv.gz", edges[:, ::-1])
    write_table(folder / "raw/node-feat.csv.gz", graph.x.tolist())
    write_table(folder / "raw/node-label.csv.gz", graph.y[:, None].tolist())
    write_table(folder / "raw/num-node-list.csv.gz", [(nodes,)])
    write_table(folder / "raw/num-edge-list.csv.gz", [(len(edges),)])
    write_table(folder / "raw/node_year.csv.gz", [(2015,)] * nodes)
    names = [(number, f"arxiv cs {chr(97 + number)}") for number in range(int(graph.y.max()) + 1)]
    write_table(folder / "mapping/labelidx2arxivcategeory.csv.gz", names, "label idx,arxiv category")
    papers = [(number, 9 * 10**8 + number) for number in range(nodes)]
    write_table(folder / "mapping/nodeidx2paperid.csv.gz", papers, "node idx,paper id")


def write_arrays(folder: Path, graph: Data) -> None:
    """As ``ogbn-papers100M``: arrays, every second label unknown."""
    nodes = int(graph.num_nodes or 0)
    _write_split(folder, nodes)
    (folder / "raw").mkdir()
    np.savez(
        folder / "raw/data.npz",
        edge_index=_once(graph).T,
        node_feat=graph.x.numpy(),
        num_nodes_list=np.array([nodes]),
    )
    label = graph.y.numpy().astype(np.float32)[:, None]
    label[::2] = np.nan
    np.savez(folder / "raw/node-label.npz", node_label=label)


def write_table(path: Path, rows: Iterable[Sequence[Any]], header: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header] * bool(header) + [",".join(map(str, row)) for row in rows]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 1))


def parts(nodes: int) -> dict[str, range]:
    """Two thirds for training, a sixth each for validation and test."""
    first, second = 2 * nodes // 3, 5 * nodes // 6
    return {"train": range(first), "valid": range(first, second), "test": range(second, nodes)}


def _write_split(folder: Path, nodes: int) -> None:
    for part, chosen in parts(nodes).items():
        write_table(folder / f"split/time/{part}.csv.gz", [(node,) for node in chosen])


def _once(graph: Data) -> np.ndarray:
    pairs = graph.edge_index.numpy().T
    found: np.ndarray = pairs[pairs[:, 0] < pairs[:, 1]]
    return found
