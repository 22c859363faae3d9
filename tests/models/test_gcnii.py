import math

import torch

import ncgnn
from ncgnn.data import complete
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.gcnii import MODEL, GCNIISettings
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.loop import class_scores


def test_each_layer_mixes_in_the_first_and_the_identity():
    """H' = ReLU(((1 - alpha) A H + alpha H0) ((1 - beta) I + beta W)) with beta = log(theta / l + 1)."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = GCNIISettings.make({"layers": 2, "width": 4, "alpha": 0.3, "theta": 0.7, "normalize_features": False})
    module = MODEL.build(Sizes.of(data), settings)
    a = torch.from_numpy(normalized_adjacency(data.edge_index, 34).toarray()).float()
    with torch.no_grad():
        first = h = module.first(data.x.to_dense()).relu()
        for number, layer in enumerate(module.layers, start=1):
            beta = math.log(0.7 / number + 1)
            mixed = 0.7 * a @ h + 0.3 * first
            h = ((1 - beta) * mixed + beta * mixed @ layer.weight1).relu()
        expected = module.last(h)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def test_convolutions_have_a_weight_decay_of_their_own():
    settings = GCNIISettings.make({"layers": 3, "weight_decay": 0.1, "conv_decay": 0.2})
    module = MODEL.build(Sizes(5, 2, 4), settings)
    convs, others = MODEL.training(module, settings).optimizer.param_groups
    assert (convs["weight_decay"], others["weight_decay"]) == (0.2, 0.1)
    assert [tuple(weight.shape) for weight in convs["params"]] == [(64, 64)] * 3
    assert len(others["params"]) == 4


def test_its_published_settings():
    cora = MODEL.published("cora")
    assert (cora.layers, cora.width, cora.alpha, cora.theta, cora.dropout) == (64, 64, 0.1, 0.5, 0.6)
    assert (cora.conv_decay, cora.weight_decay) == (1e-2, 5e-4)
    assert (MODEL.published("pubmed").conv_decay, MODEL.published("texas").alpha) == (5e-4, 0.5)
    assert MODEL.published("cora", 4).layers == 4
