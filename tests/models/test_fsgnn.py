import pytest
import torch

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified, syn_cora
from ncgnn.data.edge_tables import edge_table
from ncgnn.data.graph import make_graph
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.fsgnn import MODEL, FSGNNSettings
from ncgnn.train.loop import class_scores


@pytest.mark.parametrize("is_normalized", [True, False])
def test_its_scores_are_those_of_the_formula(is_normalized):
    """Written down with dense matrices: X, two powers without loops, and two with loops."""
    data = complete(ncgnn.load_dataset("karate"))
    settings = FSGNNSettings.make({"hops": 2, "width": 5, "normalize_features": False, "normalize_hops": is_normalized})
    module = MODEL.build(Sizes.of(data), settings)
    module.hop_weights.data = torch.tensor([0.1, 0.4, -0.3, 2.0, 0.5])
    x, a = data.x.to_dense(), torch.zeros(34, 34)
    a[data.edge_index[1], data.edge_index[0]] = 1
    alone, looped = (scaled(a), scaled(a + torch.eye(34)))
    parts = [x, alone @ x, alone @ alone @ x, looped @ x, looped @ looped @ x]
    joined = []
    with torch.no_grad():
        for part, layer, alpha in zip(parts, module.layers, module.hop_weights.softmax(0), strict=True):
            h = layer(part)
            joined.append(alpha * (h / h.norm(dim=1, keepdim=True) if is_normalized else h))
        expected = module.last(torch.cat(joined, dim=1).relu())
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def scaled(a: torch.Tensor) -> torch.Tensor:
    root = a.sum(dim=1).rsqrt()
    return root[:, None] * a * root


def test_it_uses_one_direction_if_told():
    """Node 0 links to 1: going out, only 0 has a neighbour."""
    data = complete(make_graph("pair", torch.eye(2), torch.tensor([[0, 1], [1, 0]]), torch.tensor([0, 1])))
    with pytest.raises(InputError, match="the model reads the direction of links"):
        MODEL.prepare(PreparedGraph(data), FSGNNSettings.make({"hops": 1, "edges": "out"}))
    data.edge_tables = {"links": edge_table(torch.tensor([[0, 1]]).numpy(), 2)}
    own, alone, looped = MODEL.prepare(PreparedGraph(data), FSGNNSettings.make({"hops": 1, "edges": "out"})).arguments
    assert alone.to_dense()[1].abs().sum() == 0
    torch.testing.assert_close(looped.to_dense()[1], own.to_dense()[1])
    assert not torch.equal(looped.to_dense()[0], own.to_dense()[0])


def test_it_learns():
    data = split_stratified(syn_cora(0.9, num_nodes=200))
    found = fit(MODEL, data, FSGNNSettings.make({"epochs": 40}))
    assert (found.predicted == data.y.numpy())[data.test_mask.numpy()].mean() > 0.6
