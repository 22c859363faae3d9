import numpy as np
import pytest
import torch

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified, syn_cora
from ncgnn.data.graph import make_graph
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.linear_gnn import MODEL, RIDGES, LinearSettings, solutions
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.loop import class_scores


def test_its_scores_are_those_of_the_formula():
    """sum_k A^k X W_k + b, written down with dense matrices."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = LinearSettings.make({"normalize_features": False})
    module = MODEL.build(Sizes.of(data), settings)
    module.weights, module.bias = torch.randn_like(module.weights), torch.randn_like(module.bias)
    a = torch.from_numpy(normalized_adjacency(data.edge_index, 34).toarray()).float()
    x = data.x.to_dense()
    expected = sum(torch.matrix_power(a, k) @ x @ w for k, w in enumerate(module.weights)) + module.bias
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


@pytest.mark.parametrize("nodes", [5, 60], ids=["more columns than nodes", "more nodes than columns"])
@pytest.mark.parametrize("high_pass", [True, False])
@pytest.mark.parametrize("equal", [True, False])
def test_its_weights_minimise_the_penalised_squares(nodes, high_pass, equal):
    """Solved again by the normal equations with a free intercept."""
    draw = np.random.default_rng(0)
    low, y = [draw.normal(size=(nodes, 3)) for _ in range(3)], draw.normal(size=(nodes, 2))
    parts = [*low, low[0] - low[1], low[1] - low[2]] if high_pass else low
    parts = [part - part.mean(axis=0) for part in parts]
    z = np.hstack([part / np.sqrt((part**2).sum()) if equal else part for part in parts])
    variance = (z**2).sum() / min(z.shape)
    settings = LinearSettings(high_pass=high_pass, equal=equal)
    for ridge, (weights, bias) in zip(RIDGES[:5], solutions(low, y, settings), strict=False):
        gram = z.T @ z + ridge * variance * np.eye(z.shape[1])
        expected = z @ np.linalg.solve(gram, z.T @ (y - y.mean(axis=0))) + y.mean(axis=0)
        ours = sum(part @ weight for part, weight in zip(low, weights, strict=True)) + bias
        np.testing.assert_allclose(ours, expected, atol=1e-8)


def test_rows_of_some_nodes_are_rows_of_the_whole_product():
    data = syn_cora(0.5, num_nodes=60)
    inputs = MODEL.prepare(PreparedGraph.of(split_stratified(data)), LinearSettings())
    nodes = np.array([3, 17])
    x, a = inputs.x.toarray(), inputs.a.toarray()
    for hop, rows in enumerate(inputs.rows(nodes, 2)):
        np.testing.assert_allclose(rows, (np.linalg.matrix_power(a, hop) @ x)[nodes], atol=1e-6)


def test_it_learns_that_neighbours_differ():
    """On a path whose nodes alternate, a node's class is that of its neighbours' neighbours; half the features are
    hidden."""
    draw = np.random.default_rng(0)
    y = torch.arange(200) % 2
    signal = torch.from_numpy(draw.random(200) < 0.5).float() * (2 * y - 1)
    x = torch.stack([signal, torch.from_numpy(draw.normal(size=200)).float()], dim=1)
    ends = torch.stack([torch.arange(199), torch.arange(1, 200)])
    data = split_stratified(make_graph("path", x, torch.cat([ends, ends.flip(0)], dim=1), y))
    found = fit(MODEL, data, LinearSettings.make({"normalize_features": False}))
    assert (found.predicted == y.numpy())[data.test_mask.numpy()].mean() > 0.85
    assert found.best.val_loss < 0.5
