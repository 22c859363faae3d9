import pytest
import torch

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified, syn_cora
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.gpr_gnn import MODEL, GPRSettings
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.loop import class_scores


def test_it_predicts_then_adds_up_the_weighted_steps():
    """sum_k gamma_k A^k H, written down with a dense matrix."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = GPRSettings.make({"steps": 3, "normalize_features": False})
    module = MODEL.build(Sizes.of(data), settings)
    gamma = torch.tensor([0.5, -0.3, 0.2, 0.7])
    module.gamma.data = gamma
    a = torch.from_numpy(normalized_adjacency(data.edge_index, 34).toarray()).float()
    with torch.no_grad():
        h = module.second(module.first(data.x.to_dense()).relu())
    expected = sum(weight * torch.matrix_power(a, k) @ h for k, weight in enumerate(gamma))
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


@pytest.mark.parametrize(("alpha", "weights"), [(0.0, [0, 0, 1]), (0.5, [0.5, 0.25, 0.25]), (1.0, [1, 0, 0])])
def test_its_weights_start_from_pagerank(alpha, weights):
    module = MODEL.build(Sizes(3, 2, 5), GPRSettings.make({"steps": 2, "alpha": alpha}))
    assert module.gamma.tolist() == weights


def test_it_learns_the_weights_of_steps():
    data = split_stratified(syn_cora(0.9, num_nodes=200))
    found = fit(MODEL, data, GPRSettings.make({"epochs": 60}))
    assert (found.predicted == data.y.numpy())[data.test_mask.numpy()].mean() > 0.6
    start = MODEL.build(Sizes.of(data), GPRSettings()).gamma
    assert (found.module.gamma - start).abs().max() > 0.01
