import pytest
import torch

from helpers.small_search import karate_with_splits
from ncgnn.data import load_dataset, syn_cora
from ncgnn.experiments import graphs
from ncgnn.experiments.graphs import version_at_hand


def version(monkeypatch, data) -> str:
    """Of a graph that is loaded as "club"."""
    monkeypatch.setattr(graphs, "load_dataset", lambda name: data)
    graphs._loaded.cache_clear()
    try:
        return version_at_hand("club")
    finally:
        graphs._loaded.cache_clear()


def test_the_same_graph_has_the_same_version(monkeypatch):
    first, again = (version(monkeypatch, load_dataset("karate")) for _ in range(2))
    assert first == again
    assert len(first) == 12


@pytest.mark.parametrize("part", ["x", "y", "edge_index", "train_mask"])
def test_another_part_makes_another_version(monkeypatch, part):
    data, other = karate_with_splits(), karate_with_splits()
    if part == "edge_index":
        other.edge_index = other.edge_index[:, (other.edge_index != 33).all(dim=0)]
    else:
        other[part] = torch.roll(other[part].to_dense(), 1, dims=0)
    assert version(monkeypatch, data) != version(monkeypatch, other)


def test_a_synthetic_graph_with_the_features_of_a_real_one_is_another_graph(monkeypatch):
    generated = syn_cora(0.5, num_nodes=10, num_classes=2)
    with_features = syn_cora(0.5, num_nodes=10, num_classes=2, features=load_dataset("karate"))
    assert torch.equal(generated.edge_index, with_features.edge_index)
    assert version(monkeypatch, generated) != version(monkeypatch, with_features)
