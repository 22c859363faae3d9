import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn.models import CorrectAndSmooth as Reference

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_per_class, split_stratified, syn_cora
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.correct_and_smooth import MODEL, CorrectSettings
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores


def shares(settings: CorrectSettings) -> tuple[torch.Tensor, torch.Tensor, Data]:
    """Of all nodes of the karate club: by the model, and by its MLP alone."""
    data = complete(split_per_class(ncgnn.load_dataset("karate"), 3, 8))
    module = MODEL.build(Sizes.of(data), settings)
    inputs = MODEL.prepare(PreparedGraph(data), settings)
    return class_scores(module, inputs).exp(), module.base(inputs.arguments[0]).softmax(1).detach(), data


def test_its_two_steps_are_those_of_the_paper():
    """One step each, written down with a dense matrix."""
    ours, z, data = shares(CorrectSettings.make({"steps": 1, "correct": 0.3, "smooth": 0.6}))
    a = torch.zeros(34, 34)
    a[data.edge_index[1], data.edge_index[0]] = 1
    s = a / (a.sum(1, keepdim=True) * a.sum(0)).sqrt()
    y = torch.nn.functional.one_hot(data.y, 4).float()
    error = torch.zeros(34, 4)
    error[data.train_mask] = (y - z)[data.train_mask]
    sigma = error.abs().sum() / data.train_mask.sum()
    spread = 0.3 * s @ error + 0.7 * error
    for i in range(34):
        size = spread[i].abs().sum()
        z[i] += (sigma / size if size > 0 and sigma / size <= 1000 else 1) * spread[i]
    z[data.train_mask] = y[data.train_mask]
    torch.testing.assert_close(ours, (0.6 * s @ z + 0.4 * z).clamp(1e-38, 1))


@pytest.mark.parametrize(("correct", "smooth"), [(0.8, 0.8), (0.95, 0.2)])
def test_it_agrees_with_pytorch_geometric(correct, smooth):
    ours, z, data = shares(CorrectSettings.make({"correct": correct, "smooth": smooth}))
    theirs = Reference(50, correct, 50, smooth)
    known = data.y[data.train_mask], data.train_mask, data.edge_index
    torch.testing.assert_close(ours, theirs.smooth(theirs.correct(z, *known), *known))


def test_it_is_better_than_its_mlp_where_neighbours_share_classes(tmp_path):
    """And a saved model knows the labels of its training nodes, by their ids."""
    data = split_stratified(syn_cora(0.9, num_nodes=300), 0.2, 0.2)
    found = fit(MODEL, data, CorrectSettings.make({"epochs": 60}))
    test, y = data.test_mask.numpy(), data.y.numpy()
    alone = class_scores(found.module.base, Inputs((PreparedGraph.of(data).features(True),))).argmax(1).numpy()
    assert (found.predicted == y)[test].mean() > (alone == y)[test].mean() + 0.05
    classifier = ncgnn.NodeClassifier("correct-and-smooth", {"epochs": 20}).fit(data)
    classifier.save(tmp_path / "model.safetensors")
    unlabelled = data.clone()
    del unlabelled.train_mask
    unlabelled.y = torch.full_like(data.y, -1)
    loaded = ncgnn.NodeClassifier.load(tmp_path / "model.safetensors")
    assert (loaded.predict(unlabelled) == classifier.predict(data)).all()
