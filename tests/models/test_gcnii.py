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
