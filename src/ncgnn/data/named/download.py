"""Named graphs from PyG's loaders, as used in the paper: undirected, no self-loops."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import SPLITS, both_directions, feature_matrix, feature_tensor, make_graph, merge_edges
from ncgnn.data.named.registry import DatasetInfo

_SILENCE = 30.0  # seconds without a response before a download fails


def download_graph(info: DatasetInfo) -> Data:
    """Download the graph with PyG, or load it from the cache folder if it was downloaded before."""
    import torch_geometric.datasets as pyg  # takes seconds to import

    loader = getattr(pyg, str(info.pyg))
    with _timeout(_SILENCE):
        return paper_form(loader(**loader_arguments(info))[0], info)


def loader_arguments(info: DatasetInfo) -> dict[str, Any]:
    """Arguments of PyG's loader; loaders without a name argument need a separate folder."""
    root = cache_folder() if "name" in info.options else cache_folder() / info.name
    return {"root": str(root), **info.options}


def cache_folder() -> Path:
    """The download folder: NCGNN_CACHE, by default ``~/.cache/ncgnn``."""
    return Path(os.environ.get("NCGNN_CACHE") or "~/.cache/ncgnn").expanduser()


def paper_form(raw: Data, info: DatasetInfo) -> Data:
    """The graph as the paper counts it: undirected, no self-loops, isolated nodes dropped where the paper does."""
    edges, _ = merge_edges(raw.edge_index.numpy().T, raw.num_nodes)
    keep = np.unique(edges) if info.drop_isolated else np.arange(raw.num_nodes)
    rows = torch.from_numpy(keep)
    masks = {key: raw[key][rows].reshape(len(keep), -1) for key in SPLITS if key in raw and info.keep_splits}
    return make_graph(
        info.name,
        feature_tensor(feature_matrix(raw.x)[keep]),
        both_directions(np.searchsorted(keep, edges))[0],
        raw.y[rows].long(),
        **masks,
    )


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    """Timeouts for both ways PyG downloads: urllib and, for Planetoid, aiohttp (for which proxies are also set)."""
    from aiohttp import ClientTimeout  # only where there is a download
    from fsspec.config import conf as fsspec_settings

    before = socket.getdefaulttimeout(), dict(fsspec_settings)
    limits = ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)
    socket.setdefaulttimeout(seconds)
    fsspec_settings["https"] = {"client_kwargs": {"timeout": limits, "trust_env": True}}
    try:
        yield
    finally:
        socket.setdefaulttimeout(before[0])
        fsspec_settings.clear()
        fsspec_settings.update(before[1])
