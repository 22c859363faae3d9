import torch

from helpers.fitting import fit
from helpers.tiny_graph import built, normalised, rows, tiny
from ncgnn.models.sgc import MODEL, SGCSettings
from ncgnn.train import accuracy


def test_it_is_linear_in_propagated_features():
    """A^K X W + b, written down with dense matrices."""
    module, scores, _ = built(MODEL, {"steps": 3})
    a = normalised()
    with torch.no_grad():
        expected = a @ a @ a @ rows(tiny().x) @ module.weight.t() + module.bias
    torch.testing.assert_close(scores, expected)


def test_it_learns_and_is_judged_on_the_graph(karate):
    found = fit(MODEL, karate, SGCSettings())
    assert found.history[-1].train_loss < 0.8 * found.history[0].train_loss
    assert accuracy(found.scores, karate.y, karate.val_mask) == found.best.val_accuracy


def test_its_published_settings():
    assert MODEL.published("cora").weight_decay == 1.303e-5
    assert MODEL.published("pubmed").weight_decay == 7.404e-5
    assert (MODEL.published("citeseer").epochs, MODEL.published("citeseer").lr) == (150, 0.2)
    assert MODEL.published("cora", 5).steps == 5
