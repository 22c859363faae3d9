from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import add_self_loops

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified, syn_cora
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.tuned_gcn import MODEL, TunedGCNSettings
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.loop import class_scores


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize(("norm", "reference"), [("none", None), ("layer", nn.LayerNorm(5)), ("batch", None)])
def test_its_layers_are_those_of_the_formula(residual, norm, reference):
    """conv, residual, norm, ReLU, written down with a dense matrix; batch normalisation of untrained statistics."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = TunedGCNSettings.make({"layers": 2, "width": 5, "residual": residual, "norm": norm})
    module: Any = MODEL.build(Sizes.of(data), settings)
    a = torch.from_numpy(normalized_adjacency(data.edge_index, 34).toarray()).float()
    h = data.x.to_dense()
    with torch.no_grad():
        for i, conv in enumerate(module.convs):
            out = a @ h @ conv.weight.t() + conv.bias + (module.residuals[i](h) if residual else 0)
            h = (reference(out) if reference else out / (1 + 1e-5) ** 0.5 if norm == "batch" else out).relu()
        expected = module.last(h)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def test_its_convolution_is_that_of_pytorch_geometric_on_a_graph_with_loops():
    """The authors add the loops before the layer."""
    data = complete(ncgnn.load_dataset("karate"))
    module = MODEL.build(Sizes.of(data), TunedGCNSettings.make({"layers": 1, "width": 4}))
    theirs = GCNConv(34, 4)
    theirs.lin.weight.data, theirs.bias.data = module.convs[0].weight.data, module.convs[0].bias.data
    looped, _ = add_self_loops(data.edge_index, num_nodes=34)
    h = theirs(data.x.to_dense(), looped).relu()
    inputs = MODEL.prepare(PreparedGraph(data), TunedGCNSettings())
    torch.testing.assert_close(class_scores(module, inputs), module.last(h))


def test_it_learns():
    data = split_stratified(syn_cora(0.9, num_nodes=200))
    found = fit(MODEL, data, TunedGCNSettings.make({"epochs": 40, "width": 64, "residual": True, "norm": "batch"}))
    assert (found.predicted == data.y.numpy())[data.test_mask.numpy()].mean() > 0.6
