"""Named graphs on this machine: ``.npz`` files in a folder, or data of an installed package."""

import os
from pathlib import Path

from torch_geometric.data import Data

from ncgnn.data.named.packaged import packaged_graph
from ncgnn.data.npz import read_npz
from ncgnn.errors import InputError


def local_graph(name: str, root: str | Path | None = None) -> Data | None:
    """The graph from ``root``, the NCGNN_DATA folder or an installed package; None if not found."""
    for folder in data_folders(root):
        path = folder / _file_name(name)
        if path.is_file():
            data = read_npz(path)
            data.name = name
            return data
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
