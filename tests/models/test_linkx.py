from typing import Any

import pytest
import torch

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified
from ncgnn.data.graph import make_graph
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.linkx import MODEL, LINKXSettings
from ncgnn.train.loop import class_scores


def scaled(h: torch.Tensor, norm: Any) -> torch.Tensor:
    """Batch normalisation by the moving means and variances."""
    return (h - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias


@pytest.mark.parametrize("encoders", [1, 2])
def test_its_update_is_that_of_the_paper(encoders):
    """MLP_f(ReLU(W [h_A, h_X] + h_A + h_X)), written down with dense matrices."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = LINKXSettings.make({"width": 5, "encoders": encoders, "normalize_features": False})
    module = MODEL.build(Sizes.of(data), settings)
    for norm in (part for part in module.modules() if isinstance(part, torch.nn.BatchNorm1d)):
        for values in (norm.running_mean, norm.running_var, norm.weight.data, norm.bias.data):
            values.uniform_(0.5, 1.5)
    a = torch.zeros(34, 34)
    a[data.edge_index[1], data.edge_index[0]] = 1
    with torch.no_grad():
        h_a, h_x = (
            m @ encoder.weight + encoder.bias
            for m, encoder in ((a, module.of_nodes), (data.x.to_dense(), module.of_features))
        )
        if encoders == 2:
            both = zip((h_a, h_x), (module.of_nodes.others, module.of_features.others), strict=True)
            h_a, h_x = (others.layers[0](scaled(h.relu(), others.norms[0])) for h, others in both)
        joined = (torch.cat([h_a, h_x], dim=1) @ module.join.weight.t() + module.join.bias + h_a + h_x).relu()
        hidden = scaled(module.first(joined).relu(), module.others.norms[0])
        expected = module.others.layers[0](hidden)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def test_dropout_is_only_between_the_layers_after_the_join(karate):
    """With one layer there is no such place."""
    for layers, is_same in ((1, True), (2, False)):
        settings = LINKXSettings.make({"layers": layers, "dropout": 0.5})
        module = MODEL.build(Sizes.of(karate), settings).train()
        arguments = MODEL.prepare(PreparedGraph(karate), settings).arguments
        assert torch.equal(module(*arguments), module(*arguments)) == is_same


def test_weight_decay_is_apart_from_the_gradient():
    """Where the gradient is zero, AdamW shrinks weights by the learning rate times the decay, Adam by the rate."""
    settings = LINKXSettings.make({"width": 2, "lr": 0.1, "weight_decay": 0.5})
    module = MODEL.build(Sizes(3, 2, 4), settings)
    before = module.join.weight.detach().clone()
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    MODEL.training(module, settings).optimizer.step()
    torch.testing.assert_close(module.join.weight.detach(), before * (1 - 0.1 * 0.5))


def test_it_learns_which_neighbours_a_class_has():
    """Features are the same for all, and nodes of a class have the same neighbours and never each other."""
    y = torch.arange(80) % 2
    hubs = torch.tensor([0, 1])[y]  # each hub is a neighbour of the nodes of its own class
    nodes = torch.arange(2, 80)
    ends = torch.stack([nodes, hubs[2:]])
    data = split_stratified(make_graph("hubs", torch.ones(80, 1), torch.cat([ends, ends.flip(0)], dim=1), y))
    found = fit(MODEL, data, LINKXSettings.make({"width": 8, "epochs": 200}))
    assert found.predicted[2:].tolist() == y[2:].tolist()


def test_its_prediction_of_another_number_of_nodes_is_refused():
    karate = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)
    classifier = ncgnn.NodeClassifier("linkx", {"epochs": 2}).fit(karate)
    smaller = make_graph("few", karate.x.to_dense()[:30], karate.edge_index[:, :0], karate.y[:30])
    message = "LINKX predicts only the 34 nodes it was trained on, in the same order, and this graph has 30"
    with pytest.raises(InputError, match=f"^{message}$"):
        classifier.predict(smaller)
