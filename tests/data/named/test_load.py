import sys

import numpy as np
import pytest
import torch

from ncgnn.data import load_dataset, save_graph, statistics, syn_cora
from ncgnn.data.graph import feature_matrix
from ncgnn.errors import InputError


@pytest.fixture
def no_network(monkeypatch):
    """Every connection is refused at once."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_cora_comes_with_an_installed_package_that_is_not_imported(no_benchmark):
    data = load_dataset("cora")
    found = statistics(data)
    assert (found.nodes, found.edges, found.features, found.classes) == (2708, 5278, 1433, 7)
    assert round(found.edge_homophily, 3) == 0.810
    assert "graphdatascience" not in sys.modules


def test_cora_s_labels_features_and_ids_belong_together(no_benchmark):
    data = load_dataset("cora")
    x = feature_matrix(data.x)
    assert data.x.layout is torch.sparse_csr
    assert set(np.unique(x.data)) == {1}
    assert data.node_ids[0] == "31336"
    assert data.class_names[int(data.y[0])] == "Neural_Networks"
    assert len(set(data.node_ids)) == 2708


def test_the_package_s_cora_is_the_benchmark_s_up_to_the_order(benchmark, monkeypatch):
    theirs = load_dataset("cora")
    monkeypatch.delenv("NCGNN_DATA")
    ours = load_dataset("cora")
    for describe in (
        lambda data: sorted(torch.bincount(data.y).tolist()),
        lambda data: sorted(torch.bincount(data.edge_index[0]).tolist()),
        lambda data: sorted(feature_matrix(data.x).sum(axis=1).tolist()),
    ):
        assert describe(ours) == describe(theirs)


def test_karate_club(no_benchmark):
    data = load_dataset("karate")
    found = statistics(data)
    assert (found.nodes, found.edges, found.features, found.classes) == (34, 78, 34, 4)
    assert torch.equal(data.x.to_dense(), torch.eye(34))


def test_every_graph_is_undirected_sorted_and_without_self_loops(no_benchmark):
    edge_index = load_dataset("karate").edge_index
    pairs = list(map(tuple, edge_index.T.tolist()))
    assert pairs == sorted(set(pairs))
    assert {(b, a) for a, b in pairs} == set(pairs)
    assert all(a != b for a, b in pairs)


def test_unknown_names_are_numbers(no_benchmark):
    data = load_dataset("karate")
    assert data.class_names == ["0", "1", "2", "3"]
    assert data.feature_names == data.node_ids == [str(i) for i in range(34)]


def test_root_comes_before_the_environment_and_that_before_packages(no_benchmark, tmp_path, monkeypatch):
    for folder, size in (("root", 20), ("environment", 30)):
        (tmp_path / folder).mkdir()
        save_graph(syn_cora(0.5, num_nodes=size), tmp_path / folder / "karate.npz")
    monkeypatch.setenv("NCGNN_DATA", str(tmp_path / "environment"))
    assert load_dataset("karate", tmp_path / "root").num_nodes == 20
    assert load_dataset("karate").num_nodes == 30
    assert load_dataset("karate").name == "karate"
    monkeypatch.delenv("NCGNN_DATA")
    assert load_dataset("karate").num_nodes == 34


def test_a_synthetic_graph_is_generated_where_there_is_no_file(no_benchmark):
    data = load_dataset("syn-cora:0.35")
    assert data.name == "syn-cora:0.35"
    assert statistics(data).edge_homophily == pytest.approx(0.35, abs=0.01)


def test_published_splits_are_columns_that_do_not_overlap(benchmark):
    data = load_dataset("texas")
    assert data.train_mask.shape == data.val_mask.shape == data.test_mask.shape == (183, 10)
    assert int((data.train_mask.int() + data.val_mask.int() + data.test_mask.int()).max()) == 1


def test_names_of_words_and_topics_are_kept(benchmark):
    data = load_dataset("cora-ml")
    assert len(data.feature_names) == 2879
    assert not any(name.isdigit() for name in data.class_names)


def test_a_data_folder_that_does_not_exist(no_benchmark, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="nowhere: the data folder does not exist"):
        load_dataset("cora", tmp_path / "nowhere")
    monkeypatch.setenv("NCGNN_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="gone: the NCGNN_DATA folder does not exist"):
        load_dataset("cora")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("citeseer", "'citeseer-planetoid', .* differs .*3327 nodes.*4552 edges"),
        ("cornell", "'cornell-fixed'"),
        ("chameleon-filtered", "chameleon-filtered.npz"),
        ("squirrel-filtered", "squirrel-filtered.npz"),
    ],
)
def test_graphs_that_cannot_be_downloaded_say_what_to_do(no_benchmark, name, advice):
    with pytest.raises(InputError, match=f"'{name}' is not available .*{advice}"):
        load_dataset(name)


def test_without_network_one_line_says_what_was_tried_and_what_to_do(no_benchmark, no_network, tmp_path):
    with pytest.raises(InputError) as caught:
        load_dataset("texas", tmp_path)
    message = str(caught.value)
    assert "\n" not in message
    for part in (f"no texas.npz in {tmp_path}", str(tmp_path / "cache"), "refused", "set NCGNN_DATA"):
        assert part in message


def test_broken_files_in_the_cache_are_to_be_deleted(no_benchmark, tmp_path):
    raw = tmp_path / "cache" / "texas" / "raw"
    raw.mkdir(parents=True)
    for name in (
        "out1_node_feature_label.txt",
        "out1_graph_edges.txt",
        *(f"texas_split_0.6_0.2_{i}.npz" for i in range(10)),
    ):
        (raw / name).write_text("half a\ndown\nload")
    with pytest.raises(InputError, match=r"cache failed .*delete the broken files there$"):
        load_dataset("texas")


def test_without_network_and_package_cora_says_which_package_has_it(no_benchmark, no_network, monkeypatch):
    monkeypatch.setattr("ncgnn.data.named.packaged.find_spec", lambda name: None)
    monkeypatch.setattr("torch_geometric.datasets.Planetoid.url", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"NCGNN_DATA is not set; package .* install the package graphdatascience"):
        load_dataset("cora")
