import pytest
import torch

from helpers.fitting import fit
from helpers.tiny_graph import built, normalised, tiny
from ncgnn.models.jk_net import MODEL, JKNetSettings


@pytest.mark.parametrize("mode", ["cat", "max"])
def test_the_last_layer_sees_all_others(mode):
    """H_l = ReLU(A H_{l-1} W_l + b_l), and Y = W [H_1, H_2] + b or W max(H_1, H_2) + b."""
    module, scores, _ = built(MODEL, {"layers": 2, "width": 4, "mode": mode})
    a, (first, second) = normalised(), module.layers
    with torch.no_grad():
        h1 = (a @ tiny().x @ first.weight + first.bias).relu()
        h2 = (a @ h1 @ second.weight + second.bias).relu()
        joined = torch.cat([h1, h2], dim=1) if mode == "cat" else torch.maximum(h1, h2)
        expected = module.last(joined)
    torch.testing.assert_close(scores, expected)


@pytest.mark.parametrize("mode", ["cat", "max", "lstm"])
def test_it_learns(karate, mode):
    settings = JKNetSettings.make({"epochs": 40, "mode": mode, "layers": 2, "dropout": 0.2})
    history = fit(MODEL, karate, settings).history
    assert history[-1].train_loss < 0.8 * history[0].train_loss


def test_its_depth_is_its_number_of_layers():
    assert MODEL.published("cora", 4).layers == 4
    assert MODEL.within(JKNetSettings(width=32), 2) == JKNetSettings(width=32, layers=2)
