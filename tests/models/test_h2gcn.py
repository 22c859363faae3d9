import pytest
import torch
from torch_geometric.data import Data

from helpers.fitting import fit
from helpers.tiny_graph import built, plain, rows, symmetric, tiny
from ncgnn import memory
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph
from ncgnn.models.h2gcn import MODEL, H2GCNSettings, rings


def dense_rings() -> tuple[torch.Tensor, torch.Tensor]:
    one = plain()
    two = ((one @ one > 0) & (one == 0) & ~torch.eye(6, dtype=torch.bool)).float()
    return symmetric(one), symmetric(two)


def test_rings_are_strict_and_without_the_node_itself():
    """Nodes 0, 1, 2 form a triangle: no two of them are two hops apart, although there is a path of length two."""
    near, far = (ring.to_dense() for ring in rings(tiny()))
    expected_near, expected_far = dense_rings()
    torch.testing.assert_close(near, expected_near)
    torch.testing.assert_close(far, expected_far)
    assert {(int(i), int(j)) for i, j in far.nonzero()} == {(0, 3), (3, 0), (1, 3), (3, 1), (2, 4), (4, 2)}


def test_a_hub_with_more_pairs_than_memory_is_refused_before_they_are_computed(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e9)
    leaves, hub = torch.arange(1, 6000), torch.zeros(5999, dtype=torch.long)
    edges = torch.cat([torch.stack([hub, leaves]), torch.stack([leaves, hub])], dim=1)
    with pytest.raises(InputError, match=r"two among 6000 nodes would take 1\.6 GB of memory, and 954 MB are free"):
        rings(Data(edge_index=edges, num_nodes=6000))


@pytest.mark.parametrize("relu", [True, False])
def test_it_concatenates_the_rings_of_all_rounds(relu):
    """R_k = [A_1 R_{k-1}, A_2 R_{k-1}] without a non-linearity, and Y = [R_0, R_1, R_2] W."""
    module, scores, _ = built(MODEL, {"width": 4, "relu": relu})
    near, far = dense_rings()
    with torch.no_grad():
        r0 = rows(tiny().x) @ module.embed.weight.t()
        r0 = r0.relu() if relu else r0
        r1 = torch.cat([near @ r0, far @ r0], dim=1)
        r2 = torch.cat([near @ r1, far @ r1], dim=1)
        expected = torch.cat([r0, r1, r2], dim=1) @ module.last.weight.t()
    torch.testing.assert_close(scores, expected)


def test_its_variants_are_one_and_two_rounds():
    assert [MODEL.of_variant(variant)["rounds"] for variant in MODEL.variants] == [2, 1]
    assert built(MODEL, {"width": 4, "rounds": 1})[0].last.in_features == 12


def test_rings_are_computed_once(karate):
    graph = PreparedGraph.of(karate)
    first, second = (MODEL.prepare(graph, H2GCNSettings()).arguments for _ in range(2))
    assert first[1] is second[1]
    assert first[2] is second[2]


def test_it_learns(karate):
    history = fit(MODEL, karate, H2GCNSettings.make({"epochs": 60})).history
    assert history[-1].train_loss < 0.8 * history[0].train_loss
