import pytest
import torch

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified, syn_cora
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.ordered_gnn import MODEL, OrderedSettings
from ncgnn.train.loop import class_scores


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("encoders", [1, 2])
def test_its_rounds_are_those_of_the_formula(shared, encoders):
    """Written down with a dense matrix and loops over the entries of the gate."""
    data = complete(ncgnn.load_dataset("karate"))
    values = {"layers": 3, "width": 6, "chunks": 3, "shared": shared, "encoders": encoders, "normalize_features": False}
    settings = OrderedSettings.make(values)
    module = MODEL.build(Sizes.of(data), settings)
    a = torch.zeros(34, 34)
    a[data.edge_index[1], data.edge_index[0]] = 1
    a /= a.sum(dim=1, keepdim=True)
    h, gate = data.x.to_dense(), torch.zeros(34, 3)
    with torch.no_grad():
        for layer, norm in zip(module.encoders, module.encoder_norms, strict=True):
            h = norm(layer(h).relu())
        for number in range(3):
            mean, new = a @ h, h.clone()
            softmax = module.gates[0 if shared else number](torch.cat([h, mean], dim=1)).softmax(dim=1)
            for i in range(3):
                gate[:, i] += (1 - gate[:, i]) * softmax[:, : i + 1].sum(dim=1)
                for j in (2 * i, 2 * i + 1):
                    new[:, j] = gate[:, i] * h[:, j] + (1 - gate[:, i]) * mean[:, j]
            h = module.norms[number](new)
        expected = module.last(h)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def test_features_have_to_fill_their_chunks():
    with pytest.raises(InputError, match="width = 100 is not a multiple of chunks = 64"):
        MODEL.build(Sizes(3, 2, 5), OrderedSettings.make({"width": 100}))


def test_it_learns():
    data = split_stratified(syn_cora(0.9, num_nodes=200))
    found = fit(MODEL, data, OrderedSettings.make({"epochs": 40, "layers": 3, "width": 64}))
    assert (found.predicted == data.y.numpy())[data.test_mask.numpy()].mean() > 0.6
