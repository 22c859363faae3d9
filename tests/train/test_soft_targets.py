import numpy as np
import pytest
import torch

import ncgnn
from ncgnn.calibration.calibration import fit_temperature, heat
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.nn import margin_loss, proportions, soft_margin_loss
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores
from ncgnn.train.objectives import Margin
from ncgnn.train.soft_targets import SelfTaught, SoftMargin, with_soft_targets

MARGINS = (0.9, 0.2, 0.5)


@pytest.fixture
def karate():
    return ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)


@pytest.fixture
def scores():
    return torch.rand(34, 4, generator=torch.Generator().manual_seed(0))


def test_certain_targets_give_the_margin_loss(scores):
    y = torch.arange(34) % 4
    assert soft_margin_loss(scores, torch.eye(4)[y]) == margin_loss(scores, y)


def test_uncertain_targets_mix_the_losses_of_the_classes(scores):
    """The loss is linear in the targets."""
    q = torch.tensor([0.25, 0.75, 0.0, 0.0]).expand(34, 4)
    mixed = 0.25 * margin_loss(scores, torch.zeros(34).long()) + 0.75 * margin_loss(scores, torch.ones(34).long())
    torch.testing.assert_close(soft_margin_loss(scores, q), mixed)


def test_targets_are_heated_on_validation_nodes_and_squared(karate, scores):
    shares = proportions(scores)
    found = with_soft_targets(karate, shares).soft_targets
    val, y = karate.val_mask.numpy(), karate.y.numpy()
    heated = heat(shares.double().numpy(), fit_temperature(shares.double().numpy()[val], y[val])) ** 2
    np.testing.assert_allclose(found.numpy(), heated / heated.sum(axis=1, keepdims=True), atol=1e-6)
    assert karate.get("soft_targets") is None


def test_labels_of_other_nodes_are_not_looked_at(karate, scores):
    hidden = karate.clone()
    hidden.y = torch.where(karate.train_mask | karate.val_mask, karate.y, 3 - karate.y)
    targets = [with_soft_targets(one, proportions(scores)).soft_targets for one in (karate, hidden)]
    assert torch.equal(*targets)


def test_without_targets_it_is_the_margin_loss(karate, scores):
    inputs = Inputs(())
    losses = [
        objective.loss(lambda given: scores, inputs, karate) for objective in (SoftMargin(*MARGINS), Margin(*MARGINS))
    ]
    assert torch.equal(*losses)


def test_a_model_teaches_itself_once(karate, scores):
    objective = SelfTaught(*MARGINS)
    stage = objective.next_stage(lambda: scores, Inputs(()), karate)
    assert stage is not None
    assert stage.split.soft_targets.shape == (34, 4)
    assert objective.next_stage(lambda: scores, stage.inputs, stage.split) is None


def test_the_second_model_agrees_with_the_first_on_nodes_without_labels(karate):
    config = Config.make({"epochs": 100, "dropout": 0.0})
    graph = PreparedGraph.of(karate)
    inputs = MODEL.prepare(graph, config)
    teacher = class_scores(MODEL.fit(inputs, karate, config).module, inputs)
    student = class_scores(MODEL.fit(inputs, karate, config.model_copy(update={"self_taught": True})).module, inputs)
    other = class_scores(MODEL.fit(inputs, karate, config.model_copy(update={"seed": 1})).module, inputs)
    q, aside = with_soft_targets(karate, proportions(teacher)).soft_targets, ~(karate.train_mask | karate.val_mask)
    assert soft_margin_loss(student[aside], q[aside]) < soft_margin_loss(other[aside], q[aside])


def test_predictions_of_the_student_are_explained_exactly(karate):
    classifier = ncgnn.NCGNNClassifier(epochs=30, self_taught=True).fit(karate)
    (why,) = classifier.explain(karate, ["33"])
    parts = [part.value for part in why.hops]
    assert sum(parts) + why.bias == pytest.approx(why.score, rel=1e-5)
