from typing import Any

import pytest
import torch
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import add_self_loops

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified, syn_cora
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.tuned_sage import MODEL, TunedSAGESettings
from ncgnn.train.loop import class_scores


@pytest.mark.parametrize("residual", [False, True])
def test_its_layers_are_those_of_the_formula(residual):
    """The mean over a node and its neighbours, the node itself, and the residual, with a dense matrix."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = TunedSAGESettings.make({"layers": 2, "width": 5, "residual": residual})
    module: Any = MODEL.build(Sizes.of(data), settings)
    a = torch.eye(34)
    a[data.edge_index[1], data.edge_index[0]] = 1
    a /= a.sum(dim=1, keepdim=True)
    h = data.x.to_dense()
    with torch.no_grad():
        for i, (conv, root) in enumerate(zip(module.convs, module.roots, strict=True)):
            h = (a @ h @ conv.weight.t() + conv.bias + root(h) + (module.residuals[i](h) if residual else 0)).relu()
        expected = module.last(h)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def test_its_convolution_is_that_of_pytorch_geometric_on_a_graph_with_loops():
    data = complete(ncgnn.load_dataset("karate"))
    module = MODEL.build(Sizes.of(data), TunedSAGESettings.make({"layers": 1, "width": 4}))
    theirs = SAGEConv(34, 4)
    theirs.lin_l.load_state_dict(module.convs[0].state_dict())
    theirs.lin_r.load_state_dict(module.roots[0].state_dict())
    looped, _ = add_self_loops(data.edge_index, num_nodes=34)
    h = theirs(data.x.to_dense(), looped).relu()
    inputs = MODEL.prepare(PreparedGraph(data), TunedSAGESettings())
    torch.testing.assert_close(class_scores(module, inputs), module.last(h))


def test_it_learns():
    data = split_stratified(syn_cora(0.9, num_nodes=200))
    found = fit(MODEL, data, TunedSAGESettings.make({"epochs": 40, "width": 64, "residual": True, "norm": "batch"}))
    assert (found.predicted == data.y.numpy())[data.test_mask.numpy()].mean() > 0.6
