import torch

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified, syn_cora
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.acm_gcn import MODEL, ACMSettings, Channels
from ncgnn.train.loop import class_scores


def layer(module: Channels, h: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """The channels of the paper, one after another."""
    low, high, own = module.weight.chunk(3, dim=1)
    channels = [(a @ h @ low).relu(), ((torch.eye(len(a)) - a) @ h @ high).relu(), (h @ own).relu()]
    judged = torch.stack([c @ vector for c, vector in zip(channels, module.judge, strict=True)], dim=1).sigmoid()
    alpha = (judged @ module.mix / 3).softmax(dim=1)
    return 3 * torch.stack([alpha[:, [i]] * c for i, c in enumerate(channels)]).sum(dim=0)


def test_its_update_is_that_of_the_paper():
    data = complete(ncgnn.load_dataset("karate"))
    settings = ACMSettings.make({"width": 5, "normalize_features": False})
    module = MODEL.build(Sizes.of(data), settings)
    a = torch.eye(34)
    a[data.edge_index[1], data.edge_index[0]] = 1
    a /= a.sum(dim=1, keepdim=True)
    with torch.no_grad():
        expected = layer(module.layers[1], layer(module.layers[0], data.x.to_dense(), a).relu(), a)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def test_it_learns():
    data = split_stratified(syn_cora(0.9, num_nodes=200))
    found = fit(MODEL, data, ACMSettings.make({"epochs": 60}))
    assert (found.predicted == data.y.numpy())[data.test_mask.numpy()].mean() > 0.6
