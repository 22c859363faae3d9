import pytest
import torch
from torch_geometric.data import Data

from ncgnn.data import load_dataset, read_graph, save_graph
from ncgnn.data.fingerprint import fingerprint


@pytest.fixture
def karate() -> Data:
    return load_dataset("karate")


@pytest.fixture
def two_rings() -> Data:
    """Two rings of ten nodes, one for each class, with dense random features."""
    there = torch.stack([torch.arange(20), (torch.arange(20) + 2) % 20])
    x = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
    return Data(x=x, edge_index=torch.cat([there, there.flip(0)], dim=1), y=torch.arange(20) % 2)


def changed(data, **changes):
    other = data.clone()
    for key, value in changes.items():
        other[key] = value
    return other


def test_equal_graphs_have_equal_fingerprints(karate, tmp_path):
    assert len(fingerprint(karate)) == 16
    assert fingerprint(karate.clone()) == fingerprint(karate)
    assert fingerprint(changed(karate, x=karate.x.to_dense())) == fingerprint(karate)
    assert fingerprint(changed(karate, edge_index=karate.edge_index.flip(1))) == fingerprint(karate)
    save_graph(karate, tmp_path / "k.npz")
    assert fingerprint(read_graph(tmp_path / "k.npz")) == fingerprint(karate)


def test_any_change_of_the_graph_changes_its_fingerprint(two_rings):
    x, y = two_rings.x.clone(), two_rings.y.clone()
    x[3, 2] += 1e-6
    y[3] = 1 - y[3]
    others = [
        changed(two_rings, x=x),
        changed(two_rings, x=torch.cat([two_rings.x, torch.zeros(20, 1)], dim=1)),
        changed(two_rings, y=y),
        changed(two_rings, edge_index=two_rings.edge_index[:, 1:]),
        changed(two_rings, edge_index=two_rings.edge_index.flip(0)[:, 1:]),
        changed(two_rings, edge_weight=torch.ones(40)),
        changed(two_rings, edge_weight=torch.arange(40.0)),
    ]
    prints = {fingerprint(data) for data in (two_rings, *others)}
    assert len(prints) == 1 + len(others)


def test_the_weight_of_an_edge_goes_with_it(two_rings):
    weighted = changed(two_rings, edge_weight=torch.arange(40.0))
    shuffled = changed(weighted, edge_index=weighted.edge_index.flip(1), edge_weight=weighted.edge_weight.flip(0))
    assert fingerprint(shuffled) == fingerprint(weighted)
