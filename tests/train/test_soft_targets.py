import numpy as np
import pytest
import torch

import ncgnn
from ncgnn.calibration.calibration import fit_temperature, heat
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.nn import margin_loss, proportions, soft_margin_loss
from ncgnn.train.epoch import Epoch
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores
from ncgnn.train.objectives import CrossEntropy, Margin
from ncgnn.train.soft_targets import SelfTaught, Taught, soft_targets

MARGINS = (0.9, 0.2, 0.5)
MARGIN = Margin(*MARGINS)


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
    val, y = karate.val_mask.numpy(), karate.y.numpy()
    heated = heat(shares.double().numpy(), fit_temperature(shares.double().numpy()[val], y[val])) ** 2
    found = soft_targets([shares], karate).numpy()
    np.testing.assert_allclose(found, heated / heated.sum(axis=1, keepdims=True), atol=1e-6)


def test_labels_of_other_nodes_are_not_looked_at(karate, scores):
    hidden = karate.clone()
    hidden.y = torch.where(karate.train_mask | karate.val_mask, karate.y, 3 - karate.y)
    assert torch.equal(*(soft_targets([proportions(scores)], one) for one in (karate, hidden)))


def test_targets_add_the_loss_of_all_nodes(karate, scores):
    targets = soft_targets([proportions(scores)], karate)
    soft, plain = (
        objective.loss(lambda given: scores, Inputs(()), karate) for objective in (Taught(MARGIN, targets), MARGIN)
    )
    torch.testing.assert_close(soft - plain, soft_margin_loss(scores, targets, *MARGINS))


def test_several_teachers_are_averaged_after_scaling(karate, scores):
    shares = [proportions(scores), proportions(scores.flip(1))]
    val, y = karate.val_mask.numpy(), karate.y.numpy()
    arrays = [one.double().numpy() for one in shares]
    mean = np.mean([heat(one, fit_temperature(one[val], y[val])) for one in arrays], axis=0) ** 2
    found = soft_targets(shares, karate).numpy()
    np.testing.assert_allclose(found, mean / mean.sum(axis=1, keepdims=True), atol=1e-6)


def test_cross_entropy_has_a_loss_for_soft_targets(karate, scores):
    certain = torch.eye(4)[karate.y]
    soft, plain = CrossEntropy().towards(scores, certain), CrossEntropy().of(scores, karate.y)
    torch.testing.assert_close(soft, plain)
    torch.testing.assert_close(CrossEntropy().shares(scores).sum(dim=1), torch.ones(34))


def test_a_model_teaches_itself_once(karate, scores):
    stage = SelfTaught(MARGIN).next_stage(lambda: scores, Inputs(()), karate)
    assert stage is not None
    assert isinstance(stage.objective, Taught)
    assert torch.equal(stage.objective.targets, soft_targets([proportions(scores)], karate))
    assert stage.objective.next_stage(lambda: scores, stage.inputs, stage.split) is None


def test_epochs_of_both_stages_are_told_one_after_another(karate):
    told: list[Epoch] = []
    config = Config.make({"epochs": 3, "self_taught": True})
    inputs = MODEL.prepare(PreparedGraph.of(karate), config)
    fitted = MODEL.fit(inputs, karate, config, told.append)
    assert [epoch.epoch for epoch in told] == [1, 2, 3, 4, 5, 6]
    assert fitted.history == told
    assert fitted.best.epoch > 3


def test_the_second_model_agrees_with_the_first_on_nodes_without_labels(karate):
    config = Config.make({"epochs": 100, "dropout": 0.0})
    graph = PreparedGraph.of(karate)
    inputs = MODEL.prepare(graph, config)
    teacher = class_scores(MODEL.fit(inputs, karate, config).module, inputs)
    student = class_scores(MODEL.fit(inputs, karate, config.model_copy(update={"self_taught": True})).module, inputs)
    other = class_scores(MODEL.fit(inputs, karate, config.model_copy(update={"seed": 1})).module, inputs)
    q, aside = soft_targets([proportions(teacher)], karate), ~(karate.train_mask | karate.val_mask)
    assert soft_margin_loss(student[aside], q[aside]) < soft_margin_loss(other[aside], q[aside])


def test_predictions_of_the_student_are_explained_exactly(karate):
    classifier = ncgnn.NCGNNClassifier(epochs=30, self_taught=True).fit(karate)
    (why,) = classifier.explain(karate, ["33"])
    parts = [part.value for part in why.hops]
    assert sum(parts) + why.bias == pytest.approx(why.score, rel=1e-5)
