"""Squash, the margin loss and a training step agree with the references."""

import numpy as np
import pytest
import torch

import ncgnn
from helpers import reference_numpy, reference_torch
from helpers.filter_cases import CASES, ISOLATED, NODES, C, as_numpy, assert_agree, features, graph, prepare
from helpers.reference_models import filter_of, parameters_of, random_model


@pytest.mark.parametrize("margins", [{}, {"m_plus": 0.8, "m_minus": 0.25, "lam": 0.3}], ids=["default", "other"])
def test_margin_loss(margins):
    generator = torch.Generator().manual_seed(9)
    scores = torch.rand(20, C, generator=generator, dtype=torch.float64, requires_grad=True)
    copy = scores.detach().clone().requires_grad_()
    y = torch.randint(C, (20,), generator=generator)
    loss = ncgnn.margin_loss(scores, y, **margins)
    assert loss.item() == pytest.approx(reference_numpy.margin_loss(as_numpy(scores), y.numpy(), **margins), rel=1e-12)
    loss.backward()
    reference_torch.margin_loss(copy, y, **margins).backward()
    assert_agree(scores.grad, copy.grad, 1e-12, "gradient of the scores")


def test_training_step_through_the_margin_loss():
    case, options, labelled = CASES["attention"], {"iterations": 3, "beta": 1.0}, torch.tensor([0, 2, 5, ISOLATED])
    y = torch.arange(NODES) % C
    model = random_model(case, **options)
    (zeta, primary, layers), pairs = parameters_of(model)
    scores = model(features(), prepare(filter_of(model), graph(True), torch.float64))
    ncgnn.margin_loss(scores[labelled], y[labelled]).backward()
    a_bar = case.reference(reference_torch, graph(True), zeta)
    expected, _ = reference_torch.forward(features(), a_bar, primary, layers, **options)
    reference_torch.margin_loss(expected[labelled], y[labelled]).backward()
    for parameter, leaf in pairs:
        assert_agree(parameter.grad, leaf.grad, 1e-9, "gradient")


def test_squash():
    u = torch.randn(30, 4, generator=torch.Generator().manual_seed(10), dtype=torch.float64)
    u *= torch.logspace(-6, 4, 30, dtype=torch.float64)[:, None]
    u[3] = 0.0
    u.requires_grad_()
    copy = u.detach().clone().requires_grad_()
    v = ncgnn.squash(u)
    assert_agree(v, np.array([reference_numpy.squash(row) for row in as_numpy(u)]), 1e-12, "squash")
    assert not v[3].any()
    v[:, 0].sum().backward()
    reference_torch.squash(copy)[:, 0].sum().backward()
    assert_agree(u.grad, copy.grad, 1e-12, "gradient of squash")


def test_squash_of_a_hand_computed_capsule():
    # |u| = 5, so v = 25/26 of the unit vector (0.6, 0.8)
    expected = torch.tensor([[15 / 26, 20 / 26]], dtype=torch.float64)
    torch.testing.assert_close(ncgnn.squash(torch.tensor([[3.0, 4.0]], dtype=torch.float64)), expected)
