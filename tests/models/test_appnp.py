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
