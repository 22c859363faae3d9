"""Load named graphs from files, installed packages or downloads."""

from pathlib import Path

from torch_geometric.data import Data

from ncgnn.data.generated.large import large_arguments, large_graph
from ncgnn.data.generated.planted import planted
from ncgnn.data.generated.syn_cora import syn_cora
from ncgnn.data.named.directed import with_links
from ncgnn.data.named.download import cache_folder, download_graph
from ncgnn.data.named.neighbourhoods import with_neighbourhoods
from ncgnn.data.named.packaged import data_folders, local_graph
from ncgnn.data.named.registry import LARGE, DatasetInfo, dataset_info
from ncgnn.errors import InputError


def load_dataset(name: str, root: str | Path | None = None) -> Data:
    """Load a named graph (see :data:`DATASETS`).

    Search order: ``<name>.npz`` in ``root`` and in the folder given by the environment variable NCGNN_DATA; data inside
    an installed package (Cora is in ``graphdatascience``); PyG's download, cached in the folder given by NCGNN_CACHE
    (default: ``~/.cache/ncgnn``). ``syn-cora:H`` and ``planted`` are generated if there is no file,
    ``large:N`` always (see :func:`~ncgnn.data.large_graph`). If the folder also has ``directed/<name>.npz``, the graph
    has directed edges: ``data.edge_tables["links"]``, an :class:`ncgnn.data.EdgeTable`. If it has
    ``geom-gcn/<name>.npz``, the graph has ``data.neighbourhoods``, which only Geom-GCN uses.
    """
    info = dataset_info(name)
    if info.name.startswith(f"{LARGE}:"):
        data = large_graph(**large_arguments(info.name))
        data.name = info.name
        return data
    data = local_graph(info.name, root)
    if data is not None:
        return data
    if info.name.startswith("syn-cora:"):
        return syn_cora(float(info.name.partition(":")[2]), features=local_graph("cora", root))
    if info.name == "planted":
        return planted()
    if info.pyg is None:
        raise InputError(f"graph {name!r} is not available ({_tried(info, root)}): {info.elsewhere}")
    folders = data_folders(root)
    return with_neighbourhoods(with_links(_download(info, root), folders), folders)


def _download(info: DatasetInfo, root: str | Path | None) -> Data:
    try:
        return download_graph(info)
    except Exception as error:  # loaders raise all kinds of errors, from network and file problems
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        demo = "install the package graphdatascience, which includes it, " if info.name == "cora" else ""
        remedy = "connect to the network" if isinstance(error, OSError) else "delete the broken files there"
        raise InputError(
            f"graph {info.name!r} is not available ({_tried(info, root)}) and PyG's download to {cache_folder()} failed"
            f" ({reason}): {demo}set NCGNN_DATA to a folder with {info.name}.npz, or {remedy}"
        ) from error


def _tried(info: DatasetInfo, root: str | Path | None) -> str:
    folders = [str(folder) for folder in data_folders(root)]
    files = f"no {info.name}.npz in {' or '.join(folders)}" if folders else "NCGNN_DATA is not set"
    return f"{files}; package graphdatascience is not installed" if info.name == "cora" else files
