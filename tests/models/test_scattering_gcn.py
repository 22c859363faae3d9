import pytest
import torch

from helpers.fitting import fit
from helpers.tiny_graph import built, normalised, plain, rows, tiny
from ncgnn.models import Sizes
from ncgnn.models.scattering_gcn import MODEL, ScatteringSettings, random_walk


def walk() -> torch.Tensor:
    return plain() / plain().sum(dim=0).clamp(min=1)


@pytest.mark.parametrize("scale", [0, 1, 3])
def test_its_update_is_that_of_the_paper(scale):
    """A, A^2 and A^3, a wavelet P - P^2 and another, to the power q, and a residual layer."""
    values = {"low": 2, "first_width": 3, "second_width": 4, "second": scale, "exponent": 2.0}
    module, scores, _ = built(MODEL, values)
    a, p = normalised(), (torch.eye(6) + walk()) / 2
    wavelets = {0: torch.eye(6) - p, 1: p - p @ p, 3: p.matrix_power(4) - p.matrix_power(8)}
    with torch.no_grad():
        u = rows(tiny().x) @ module.weight
        filters = [a, a @ a, a @ a @ a, wavelets[1], wavelets[scale]]
        parts = [f @ channel for f, channel in zip(filters, u.split([2, 2, 2, 3, 4], dim=1), strict=True)]
        h = (torch.cat(parts, dim=1) + module.bias).abs() ** 2
        expected = (torch.eye(6) + 0.5 * walk()) / 1.5 @ h @ module.last + module.last_bias
    torch.testing.assert_close(scores, expected)


def test_columns_of_the_walk_sum_to_one():
    torch.testing.assert_close(random_walk(tiny()).to_dense(), walk())


def test_the_learning_rate_falls_every_50_epochs():
    settings = ScatteringSettings()
    module = MODEL.build(Sizes(3, 2, 6), settings)
    optimizer = MODEL.training(module, settings).optimizer
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    for _ in range(100):
        optimizer.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.005 * 0.9**2)


def test_it_learns(karate):
    settings = ScatteringSettings.make({"epochs": 100, "dropout": 0.2, "lr": 0.05, "exponent": 1.0})
    history = fit(MODEL, karate, settings).history
    assert history[-1].train_loss < 0.8 * history[0].train_loss
