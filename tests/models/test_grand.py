import pytest
import torch
import torch.nn.functional as F

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_per_class, split_stratified, syn_cora
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.grand import MODEL, GRANDSettings, distance
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.loop import class_scores

PLAIN = {"normalize_features": False, "dropout": 0.0, "hidden_dropout": 0.0}


def club():
    data = complete(split_per_class(ncgnn.load_dataset("karate"), 3, 8))
    a = torch.from_numpy(normalized_adjacency(data.edge_index, 34).toarray()).float()
    return data, a


def dense(module, x: torch.Tensor, a: torch.Tensor, kept: torch.Tensor, order: int) -> torch.Tensor:
    """The MLP of the smoothed features, as the paper writes it."""
    smooth = sum(torch.matrix_power(a, k) @ (kept * x) for k in range(order + 1)) / (order + 1)
    smooth = module.norms[0](smooth) if module.norms else smooth
    hidden = module.first(smooth).relu()
    return module.second(module.norms[1](hidden) if module.norms else hidden)


@pytest.mark.parametrize("norm", [False, True])
def test_outside_training_all_nodes_keep_their_share(norm):
    data, a = club()
    settings = GRANDSettings.make(PLAIN | {"order": 3, "node_dropout": 0.3, "norm": norm})
    module = MODEL.build(Sizes.of(data), settings).eval()
    with torch.no_grad():
        expected = dense(module, data.x.to_dense(), a, torch.tensor(0.7), 3)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


@pytest.mark.parametrize("dropout", [0.0, 1e-9], ids=["first layer before smoothing", "first layer after it"])
def test_in_training_whole_nodes_are_dropped(dropout):
    data, a = club()
    settings = GRANDSettings.make(PLAIN | {"order": 2, "dropout": dropout})
    module = MODEL.build(Sizes.of(data), settings).train()
    torch.manual_seed(5)
    kept = torch.bernoulli(torch.full((34, 1), 0.5))
    torch.manual_seed(5)
    ours = module(*MODEL.prepare(PreparedGraph(data), settings).arguments)
    torch.testing.assert_close(ours, dense(module, data.x.to_dense(), a, kept, 2))


def test_its_loss_is_that_of_the_paper():
    """The mean cross-entropy of all draws, and their distance from the sharpened mean."""
    data, _ = club()
    settings = GRANDSettings.make({"draws": 3, "consistency": 0.7, "temperature": 0.4})
    draws = list(torch.randn(3, 34, 4))
    drawn = iter(draws)
    objective = MODEL.training(MODEL.build(Sizes.of(data), settings), settings).objective
    ours = objective.loss(lambda inputs: next(drawn), MODEL.prepare(PreparedGraph(data), settings), data)
    known = sum(F.cross_entropy(one[data.train_mask], data.y[data.train_mask]) for one in draws) / 3
    shares = [one.softmax(1) for one in draws]
    mean = sum(shares) / 3
    sharp = mean**2.5 / (mean**2.5).sum(1, keepdim=True)
    apart = sum((one - sharp).square().sum(1).mean() for one in shares) / 3
    torch.testing.assert_close(ours, known + 0.7 * apart)


def test_equal_and_certain_draws_are_at_no_distance():
    assert distance(torch.eye(3).expand(2, 3, 3), 0.5) == 0


def test_it_learns():
    data = split_stratified(syn_cora(0.9, num_nodes=200))
    found = fit(MODEL, data, GRANDSettings.make({"epochs": 40, "dropout": 0.0, "order": 2, "draws": 2}))
    assert (found.predicted == data.y.numpy())[data.test_mask.numpy()].mean() > 0.6
