"""Named graphs on this machine: ``.npz`` files in a folder, or data of an installed package: Cora with
``graphdatascience``, the karate club with PyG.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, feature_tensor, make_graph, merge_edges
from ncgnn.data.named.directed import with_links
from ncgnn.data.named.neighbourhoods import with_neighbourhoods
from ncgnn.data.npz import read_npz
from ncgnn.data.tables.columns.values import as_text
from ncgnn.data.tables.edges import node_numbers
from ncgnn.errors import InputError

_CORA_CLASSES = (  # graphdatascience/resources/cora/serialize_cora.py
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)


def local_graph(name: str, root: str | Path | None = None) -> Data | None:
    """The graph from ``root``, the NCGNN_DATA folder or an installed package; None if not found."""
    for folder in data_folders(root):
        path = folder / _file_name(name)
        if path.is_file():
            data = read_npz(path)
            data.name = name
            return with_neighbourhoods(with_links(data, [folder]), [folder])
    return packaged_graph(name)


def data_folders(root: str | Path | None = None) -> list[Path]:
    """Folders of ``.npz`` files, in search order."""
    environment = os.environ.get("NCGNN_DATA")
    named = [("the data folder", root), ("the NCGNN_DATA folder", environment)]
    folders = [(what, Path(folder).expanduser()) for what, folder in named if folder]
    for what, folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: {what} does not exist")
    return [folder for _, folder in folders]


def _file_name(name: str) -> str:
    family, _, homophily = name.partition(":")
    return f"{family}/h{homophily}-r1.npz" if homophily else f"{name}.npz"


def packaged_graph(name: str) -> Data | None:
    """The graph ``name`` from an installed package; None if no package has it."""
    if name == "karate":
        return _karate()
    folder = _cora_folder() if name == "cora" else None
    return None if folder is None else _cora(folder)


def _cora_folder() -> Path | None:
    spec = find_spec("graphdatascience")  # finds the files without the slow import
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    folders = [Path(place) / "resources" / "cora" for place in places]
    return next((folder for folder in folders if (folder / "cora_nodes.parquet.gzip").is_file()), None)


def _cora(folder: Path) -> Data:
    nodes = pd.read_parquet(folder / "cora_nodes.parquet.gzip")
    links = pd.read_parquet(folder / "cora_rels.parquet.gzip")
    ids = as_text(nodes["nodeId"])
    pairs = node_numbers(links, ("sourceNodeId", "targetNodeId"), ids, str(folder))
    edges, _ = merge_edges(pairs, len(ids))
    return make_graph(
        "cora",
        feature_tensor(np.stack(nodes["features"].to_list()).astype(np.float32)),
        both_directions(edges)[0],
        torch.tensor(nodes["subject"].to_numpy(np.int64)),
        class_names=_CORA_CLASSES,
        node_ids=ids.tolist(),
    )


def _karate() -> Data:
    from torch_geometric.datasets import KarateClub  # takes seconds to import

    club = KarateClub()[0]
    edges, _ = merge_edges(club.edge_index.numpy().T, club.num_nodes)
    return make_graph("karate", feature_tensor(club.x.numpy()), both_directions(edges)[0], club.y)
