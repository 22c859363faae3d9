"""The measures of over-smoothing against their dense formulas, and that smoothing lowers them."""

import numpy as np
import pytest
import torch
from benchmarks import smoothing, table
from torch_geometric.utils import to_dense_adj

from ncgnn.data import load_dataset
from ncgnn.models import PreparedGraph


@pytest.fixture(scope="module")
def club() -> PreparedGraph:
    return PreparedGraph.of(load_dataset("karate"))


def dense(club: PreparedGraph) -> torch.Tensor:
    edge_index, weight = club.normalized_edges
    return to_dense_adj(edge_index, edge_attr=weight)[0].double()


def some(nodes: int = 34) -> torch.Tensor:
    return torch.randn(nodes, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_the_mean_distance_is_that_over_all_pairs(club):
    h = some()
    h[5] = 0  # has no direction, so its distance to all others is one
    unit = h / h.norm(dim=1, keepdim=True).clamp(min=1e-12)
    distance = 1 - unit @ unit.T
    pairs = [float(distance[i, j]) for i in range(34) for j in range(34) if i != j]
    assert smoothing.mean_distance(h) == pytest.approx(np.mean(pairs))
    source, target = club.data.edge_index
    ends = [float(distance[i, j]) for i, j in zip(source, target, strict=True)]
    assert smoothing.mean_distance_of_neighbours(h, club.data.edge_index) == pytest.approx(np.mean(ends))


def test_the_energy_is_the_sum_of_squared_differences_over_edges(club):
    """Cai and Wang's definition, with degrees that count the self-loop."""
    h, degree = some(), 1 + torch.bincount(club.data.edge_index[0], minlength=34).double()
    scaled = h / degree.sqrt()[:, None]
    source, target = club.data.edge_index
    expected = (scaled[source] - scaled[target]).square().sum() / 2 / h.square().sum()
    assert smoothing.energy(h, *club.normalized_edges) == pytest.approx(float(expected))
    assert smoothing.energy(torch.zeros(34, 3), *club.normalized_edges) == 0


def test_smoothing_lowers_all_measures_to_zero(club):
    a, h = dense(club), some()
    far = torch.linalg.matrix_power(a, 200) @ h
    assert smoothing.energy(far, *club.normalized_edges) < 1e-6 < smoothing.energy(h, *club.normalized_edges)
    one_sided = far * far[0].sign()  # all rows point into one direction, up to its sign
    assert smoothing.mean_distance(one_sided) < 1e-6 < smoothing.mean_distance(h)


def test_a_measured_row_is_stored_once_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(smoothing, "RESULTS", tmp_path / "rows.csv")
    monkeypatch.setattr(smoothing, "orders", lambda graphs: [("karate", "SGC", 2, 0)])
    monkeypatch.setattr(smoothing, "GRAPHS", ("karate",))
    smoothing.run(["karate"])
    (row,) = table.read(tmp_path / "rows.csv")
    assert 0 <= row["test_accuracy"] <= 1
    assert 0 <= row["energy"] <= 2
    monkeypatch.setattr(smoothing, "measure", lambda *_: pytest.fail("measured again"))
    smoothing.run(["karate"])
    text = smoothing.render([row])
    assert f"| karate, SGC | - | {100 * row['test_accuracy']:.1f} | -" in text
    assert "Splits per value: 1." in text
    assert len(smoothing.draw([row]).axes) == 4
