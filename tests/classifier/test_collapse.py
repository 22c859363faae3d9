"""A training that ends with one class for all nodes is noticed."""

import pytest
import torch

import ncgnn
from ncgnn.models import register
from ncgnn.models.base import registry
from ncgnn.models.ncgnn import MODEL, Config


class Collapsing(type(MODEL)):  # type: ignore[misc]
    """Says the first class for all nodes, and learns nothing, unless dropout is early."""

    name = "collapsing"

    def build(self, sizes, settings):
        network = super().build(sizes, settings)
        if not settings.early_dropout:
            torch.nn.init.zeros_(network.layers[0].weight)
            torch.nn.init.ones_(network.layers[0].bias[0])
            network.requires_grad_(False)
        return network

    def training(self, module, settings):
        module.requires_grad_(True)
        return super().training(module, settings)


SETTINGS = {"epochs": 60, "patience": 5, "lr": 1e-12}


@pytest.fixture
def karate():
    return ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=4, val=12)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_OWN", {})
    register(Collapsing())


def test_a_model_that_says_one_class_for_all_is_trained_again_with_other_settings(karate):
    with pytest.warns(UserWarning, match=r"predicts '0' for all .* trained again with .*averaging=0"):
        classifier = ncgnn.NodeClassifier("collapsing", SETTINGS).fit(karate)
    assert classifier.config_.early_dropout == 0.5
    assert len(set(classifier.predict(karate)[karate.val_mask.numpy()])) > 1


def test_where_no_other_settings_help_it_is_said(karate):
    settings = SETTINGS | {"averaging": 0.9}
    with pytest.warns(UserWarning, match="predicts '0' for all validation nodes; search for settings, or change them"):
        classifier = ncgnn.NodeClassifier("collapsing", settings).fit(karate)
    assert classifier.config_ == Config.make(settings)


def test_a_training_that_was_cut_short_is_left_alone(karate, recwarn):
    ncgnn.NodeClassifier("collapsing", SETTINGS | {"epochs": 3}).fit(karate)
    assert not [one for one in recwarn if "for all validation nodes" in str(one.message)]
