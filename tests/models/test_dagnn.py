import torch

from helpers.fitting import fit
from helpers.tiny_graph import built, normalised, rows, tiny
from ncgnn.models.dagnn import MODEL, DAGNNSettings


def test_each_node_weighs_its_hops():
    """sum_k s_k * A^k Z with s_k = sigmoid(A^k Z w + b), hop 0 included."""
    module, scores, _ = built(MODEL, {"steps": 2, "width": 4})
    a = normalised()
    with torch.no_grad():
        z = module.second(module.first(rows(tiny().x)).relu())
        hops = [z, a @ z, a @ a @ z]
        expected = sum(torch.sigmoid(h @ module.share.weight.t() + module.share.bias) * h for h in hops)
    torch.testing.assert_close(scores, expected)


def test_it_learns(karate):
    history = fit(MODEL, karate, DAGNNSettings.make({"epochs": 60, "dropout": 0.2})).history
    assert history[-1].train_loss < 0.8 * history[0].train_loss


def test_its_published_settings():
    assert (MODEL.published("cora").steps, MODEL.published("pubmed").steps) == (10, 20)
    assert MODEL.published("citeseer").weight_decay == 2e-2
    assert MODEL.published("amazon-computers").epochs == 3000
    assert MODEL.published("pubmed", 3) == MODEL.published("cora", 3)
