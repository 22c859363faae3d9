import torch

import ncgnn
from ncgnn.data import complete
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.appnp import MODEL, APPNPSettings
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.loop import class_scores


def test_it_predicts_then_propagates():
    """Z' = (1 - alpha) A Z + alpha H, written down with a dense matrix."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = APPNPSettings.make({"steps": 3, "alpha": 0.2, "normalize_features": False})
    module = MODEL.build(Sizes.of(data), settings)
    a = torch.from_numpy(normalized_adjacency(data.edge_index, 34).toarray()).float()
    with torch.no_grad():
        h = module.second(module.first(data.x.to_dense()).relu())
        z = h
        for _ in range(3):
            z = 0.8 * a @ z + 0.2 * h
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), z)


def test_its_published_settings_decay_the_first_layer_only():
    settings = MODEL.published("cora-ml")
    assert (settings.width, settings.steps, settings.alpha, settings.dropout) == (64, 10, 0.1, 0.5)
    module = MODEL.build(Sizes(5, 2, 4), settings)
    first, second = MODEL.training(module, settings).optimizer.param_groups
    assert (first["weight_decay"], second["weight_decay"]) == (5e-3, 0)
    assert first["params"][0] is module.first.weight


def test_entries_of_the_matrix_are_dropped_in_training_only():
    """Each step keeps half of the entries, doubled, so that the mean of many draws is the usual result."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = APPNPSettings.make({"steps": 2, "dropout": 0.0, "edge_dropout": 0.5})
    module = MODEL.build(Sizes.of(data), settings)
    inputs = MODEL.prepare(PreparedGraph(data), settings)
    expected = class_scores(module, inputs)
    torch.manual_seed(0)
    with torch.no_grad():
        drawn = [module.train()(*inputs.arguments) for _ in range(400)]
    assert not torch.equal(drawn[0], drawn[1])
    torch.testing.assert_close(torch.stack(drawn).mean(dim=0), expected, atol=0.03, rtol=0)
