import torch

import ncgnn
from ncgnn.data import complete
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.gcn import MODEL as OWN
from ncgnn.models.gcn import GCNSettings
from ncgnn.models.pyg_gcn import MODEL, PyGSettings
from ncgnn.train.loop import class_scores


def test_with_the_same_weights_it_gives_the_scores_of_our_gcn():
    data = complete(ncgnn.load_dataset("karate"))
    settings = PyGSettings.make({"width": 8, "layers": 3})
    theirs = MODEL.build(Sizes.of(data), settings)
    ours = OWN.build(Sizes.of(data), GCNSettings.make({"width": 8, "layers": 3}))
    with torch.no_grad():
        for weight, layer in zip(ours.weights, theirs.convs, strict=True):
            layer.lin.weight.copy_(weight.t())
            layer.bias.zero_()
    graph = PreparedGraph(data)
    expected = class_scores(ours, OWN.prepare(graph, GCNSettings.make({})))
    torch.testing.assert_close(class_scores(theirs, MODEL.prepare(graph, settings)), expected)
