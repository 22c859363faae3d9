"""The last training on all labels, and calibration by cross-validation."""

import numpy as np
import pytest
import torch

import ncgnn
from ncgnn.data.generated.planted import planted
from ncgnn.models import PreparedGraph, find_model
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.search.refit import FOLDS, can_refit, cross_calibration, refit
from ncgnn.train.loop import class_scores

SETTINGS = Config.make({"num_capsules": 2, "primary_channels": 8, "class_channels": 4, "hops": [0, 1], "dropout": 0.2})


@pytest.fixture(scope="module")
def graph() -> PreparedGraph:
    return PreparedGraph.of(ncgnn.split_stratified(planted(), seed=0))


def test_all_labels_are_trained_on_for_the_number_of_epochs_that_was_best(graph):
    whole, fitted = refit(graph, MODEL, SETTINGS, 7)
    assert torch.equal(whole.data.train_mask, graph.data.y >= 0)
    assert not whole.data.val_mask.any()
    assert not whole.data.test_mask.any()
    assert len(fitted.history) == 7
    assert fitted.best.epoch == 7
    assert graph.data.test_mask.any()  # the given split is as before


def test_labels_of_the_test_nodes_change_the_refitted_model_but_not_the_calibration(graph):
    data = graph.data.clone()
    data.y[data.test_mask] = (data.y[data.test_mask] + 1) % 4
    other = PreparedGraph.of(data)
    models = [refit(one, MODEL, SETTINGS, 5)[1].module for one in (graph, other)]
    scores = [class_scores(module, MODEL.prepare(graph, SETTINGS)) for module in models]
    assert not torch.equal(*scores)
    assert cross_calibration(graph, MODEL, SETTINGS, 5, False) == cross_calibration(other, MODEL, SETTINGS, 5, False)


@pytest.mark.parametrize("is_taught", [False, True])
def test_every_training_and_validation_node_is_scored_by_models_that_did_not_see_it(graph, monkeypatch, is_taught):
    trained = []
    fit = MODEL.fit

    def noted(inputs, split, *rest, **options):
        trained.append((split.train_mask.clone(), split.val_mask.clone()))
        return fit(inputs, split, *rest, **options)

    monkeypatch.setattr(type(MODEL), "fit", lambda self, *rest, **options: noted(*rest, **options))
    calibration = cross_calibration(graph, MODEL, SETTINGS, 3, is_taught)
    known = graph.data.train_mask | graph.data.val_mask
    assert calibration is not None
    assert len(calibration.scores) == int(known.sum())
    assert len(trained) == FOLDS * (1 + is_taught)
    for train, val in trained:
        assert not (train & val).any()
        assert torch.equal(train | val, known)
    aside = torch.stack([val for _, val in trained[:: 1 + is_taught]]).sum(dim=0)
    assert torch.equal(aside == 1, known)


def test_folds_have_their_share_of_every_class(graph):
    from ncgnn.search.refit import _folds

    counts = np.array([np.bincount(graph.data.y[fold], minlength=4) for fold in _folds(graph.data)])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()


def test_too_few_labels_give_no_calibration():
    karate = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=2, val=4)
    assert cross_calibration(PreparedGraph.of(karate), MODEL, SETTINGS, 3, False) is None


def test_calibrated_probabilities_are_right_as_often_as_they_say(graph):
    """Of the nodes of the test, none of which was used."""
    epochs = 60
    calibration = cross_calibration(graph, MODEL, SETTINGS, epochs, False)
    part = MODEL.fit(MODEL.prepare(graph, SETTINGS), graph.data, SETTINGS.model_copy(update={"epochs": epochs}))
    shares = MODEL.probabilities(class_scores(part.module, MODEL.prepare(graph, SETTINGS)))
    found = calibration.probabilities(shares.numpy())[graph.data.test_mask.numpy()]
    right = found.argmax(axis=1) == graph.data.y[graph.data.test_mask].numpy()
    assert abs(found.max(axis=1).mean() - right.mean()) < 0.12


def test_only_models_trained_in_epochs_can_be_refitted():
    propagation = find_model("label-propagation")
    assert can_refit(MODEL, SETTINGS)
    assert not can_refit(propagation, propagation.candidates()[0])
    assert not can_refit(MODEL, SETTINGS.model_copy(update={"self_taught": True}))


def test_a_fit_of_ones_own_without_change_is_left_alone():
    class Own(type(MODEL)):  # type: ignore[misc]
        name = "own-fit"

        def fit(self, inputs, split, settings, on_epoch=lambda epoch: None):
            return super().fit(inputs, split, settings, on_epoch)

    assert not can_refit(Own(), SETTINGS)
