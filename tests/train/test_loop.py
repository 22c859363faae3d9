from copy import deepcopy
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from ncgnn.train import Epoch, Inputs
from ncgnn.train.loop import Training, step, train
from ncgnn.train.objectives import CrossEntropy, Margin
from ncgnn.train.reproducible import seeded
from ncgnn.train.stopping import Never, Patience, Window


class Consistent(CrossEntropy):
    """Two passes with other dropout: the mean loss, and a penalty on how much they differ."""

    def loss(self, forward, inputs, split):
        one, other = forward(inputs), forward(inputs)
        labelled = [self.of(scores[split.train_mask], split.y[split.train_mask]) for scores in (one, other)]
        return sum(labelled) / 2 + (one.softmax(1) - other.softmax(1)).square().mean()


@pytest.fixture
def model(karate):
    with seeded(0):
        return nn.Sequential(nn.Dropout(0.5), nn.Linear(karate.x.shape[1], 4))


@pytest.fixture
def x(karate):
    return karate.x if karate.x.layout == torch.strided else karate.x.to_dense()


def sgd(model, objective, epochs=5, stopping=None) -> Training:
    return Training(objective, torch.optim.SGD(model.parameters(), lr=0.5), stopping or Patience(100), epochs)


def test_an_objective_may_call_forward_twice(karate, model, x):
    by_hand = deepcopy(model).train()
    optimizer = torch.optim.SGD(by_hand.parameters(), lr=0.5)
    with seeded(1):
        one, other = by_hand(x), by_hand(x)
        mask, y = karate.train_mask, karate.y
        supervised = (F.cross_entropy(one[mask], y[mask]) + F.cross_entropy(other[mask], y[mask])) / 2
        (supervised + (one.softmax(1) - other.softmax(1)).square().mean()).backward()
        optimizer.step()
    with seeded(1):
        step(model, Inputs((x,)), karate, sgd(model, Consistent()))
    assert not torch.equal(one, other)
    assert all(torch.equal(*pair) for pair in zip(model.parameters(), by_hand.parameters(), strict=True))


@pytest.mark.parametrize("objective", [CrossEntropy(), Margin(0.9, 0.1, 0.5), Consistent()])
def test_the_loop_trains_any_module(karate, model, x, objective):
    seen: list[Epoch] = []
    trained = train(model, Inputs((x,)), karate, sgd(model, objective), seen.append)
    assert seen == trained.history
    assert trained.history[-1].train_loss < trained.history[0].train_loss
    assert not model.training
    assert all(parameter.grad is None for parameter in model.parameters())


def test_patience_keeps_the_best_weights_and_a_window_the_last(karate, model, x):
    for stopping, index in ((Patience(3), None), (Window(3), -1)):
        trained = train(model, Inputs((x,)), karate, sgd(model, CrossEntropy(), 10, stopping))
        expected = max(trained.history, key=lambda e: e.rank) if index is None else trained.history[index]
        assert trained.best == expected
        loss, accuracy = CrossEntropy().validate(lambda inputs: model(*inputs.arguments), Inputs((x,)), karate)
        assert (loss, accuracy) == (expected.val_loss, expected.val_accuracy)


@pytest.mark.parametrize(("every", "validated"), [(1, [1, 2, 3, 4, 5, 6, 7]), (3, [3, 6, 7]), (7, [7]), (9, [7])])
def test_seldom_validation_changes_no_step(karate, model, x, every, validated):
    with seeded(1):
        expected = deepcopy(model)
        train(expected, Inputs((x,)), karate, sgd(expected, CrossEntropy(), 7, Never()))
    with seeded(1):
        how = replace(sgd(model, CrossEntropy(), 7, Never()), validate_every=every)
        trained = train(model, Inputs((x,)), karate, how, first=11)
    assert [epoch.epoch for epoch in trained.history] == [10 + number for number in validated]
    assert all(torch.equal(*pair) for pair in zip(model.parameters(), expected.parameters(), strict=True))


def test_patience_counts_epochs_not_validations(karate, model, x):
    worse = iter(range(100))
    objective = CrossEntropy()
    object.__setattr__(objective, "validate", lambda *arguments: (float(next(worse)), 0.5))
    how = replace(sgd(model, objective, 60, Patience(9)), validate_every=4)
    trained = train(model, Inputs((x,)), karate, how)
    assert [epoch.epoch for epoch in trained.history] == [4, 8, 12, 16]
    assert trained.best.epoch == 4
