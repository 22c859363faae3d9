import inspect
import shutil
import socket
import time

import fsspec.config
import pytest
import torch
import torch_geometric.datasets as pyg
from torch_geometric.data import Data

from ncgnn.data import DATASETS, load_dataset, statistics
from ncgnn.data.named.download import cache_folder, download_graph, loader_arguments, paper_form
from ncgnn.data.named.registry import DatasetInfo


@pytest.fixture
def raw_files(benchmark, tmp_path, monkeypatch):
    """A cache folder that holds the raw files of Cora and Texas, as if they had been downloaded."""
    shutil.copytree(benchmark / "pyg", tmp_path / "cache")
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", ["cora", "texas"])
def test_pyg_s_loaders_give_the_graph_of_the_benchmark_folder(raw_files, name):
    ours = download_graph(DATASETS[name])
    found, wanted = statistics(ours), statistics(load_dataset(name))
    assert found.edge_homophily == pytest.approx(wanted.edge_homophily)
    assert found.node_homophily == pytest.approx(wanted.node_homophily)
    assert (found.nodes, found.edges, found.features, found.classes) == (
        wanted.nodes,
        wanted.edges,
        wanted.features,
        wanted.classes,
    )


def test_published_splits_survive_and_planetoid_s_is_dropped(raw_files):
    texas, published = download_graph(DATASETS["texas"]), load_dataset("texas")
    assert torch.equal(texas.test_mask, published.test_mask)
    assert "train_mask" not in download_graph(DATASETS["cora"])


def test_load_dataset_takes_the_download_where_nothing_else_is(raw_files, monkeypatch):
    monkeypatch.delenv("NCGNN_DATA")
    assert load_dataset("texas").train_mask.shape == (183, 10)


def test_directed_edges_and_self_loops_of_the_raw_graph_are_brought_to_the_paper_s_form():
    raw = Data(x=torch.eye(4), edge_index=torch.tensor([[1, 0, 2, 3], [0, 1, 1, 3]]), y=torch.arange(4))
    data = paper_form(raw, DatasetInfo("toy", ""))
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert data.num_nodes == 4


def test_isolated_nodes_are_dropped_where_the_paper_does_and_the_rest_is_renumbered():
    masks = {key: torch.tensor([1, 0, 0, 1, 0]).bool() for key in ("train_mask", "val_mask", "test_mask")}
    raw = Data(x=torch.eye(5), edge_index=torch.tensor([[1, 4], [3, 3]]), y=torch.arange(5), **masks)
    data = paper_form(raw, DatasetInfo("toy", "", drop_isolated=True))
    assert data.y.tolist() == [1, 3, 4]
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert data.train_mask.tolist() == [[False], [True], [False]]


def test_every_loader_exists_and_takes_the_arguments_of_the_registry():
    for info in DATASETS.values():
        if info.pyg is not None:
            inspect.signature(getattr(pyg, info.pyg)).bind(**loader_arguments(info))


@pytest.mark.parametrize(("name", "loader"), [("texas", pyg.WebKB), ("cora", pyg.Planetoid)])
def test_a_silent_host_fails_in_time_and_all_settings_are_put_back(monkeypatch, tmp_path, name, loader):
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))
    monkeypatch.setattr("ncgnn.data.named.download._SILENCE", 0.2)
    for variable in ("https_proxy", "no_proxy", "NO_PROXY", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    start, before = time.monotonic(), dict(fsspec.config.conf)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections and never answers
        monkeypatch.setattr(loader, "url", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises((TimeoutError, FileNotFoundError)):
            download_graph(DATASETS[name])
    assert time.monotonic() - start < 10
    assert socket.getdefaulttimeout() is None
    assert fsspec.config.conf == before


def test_downloads_go_to_the_home_folder_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.delenv("NCGNN_CACHE", raising=False)
    assert cache_folder().parts[-2:] == (".cache", "ncgnn")
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
