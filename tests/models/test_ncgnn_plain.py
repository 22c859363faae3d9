import pytest
import torch

import ncgnn
from ncgnn.data import complete
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.ncgnn import MODEL as FUSED
from ncgnn.models.ncgnn import Config
from ncgnn.models.ncgnn_plain import MODEL, PlainNCGNN
from ncgnn.nn import NCGNN, AttentionFilter
from ncgnn.train.loop import class_scores
from ncgnn.train.reproducible import seeded


def test_plain_operations_give_the_scores_of_the_fused_kernels():
    data = complete(ncgnn.load_dataset("karate"))
    settings, graph = Config.make({"hops": [0, 1, 3]}), PreparedGraph(data)
    with seeded(0):
        plain = MODEL.build(Sizes.of(data), settings)
    with seeded(0):
        fused = FUSED.build(Sizes.of(data), settings)
    scores = [class_scores(module, m.prepare(graph, settings)) for m, module in ((MODEL, plain), (FUSED, fused))]
    torch.testing.assert_close(*scores)


@pytest.mark.parametrize("layout", [torch.strided, torch.sparse_csr])
def test_the_plain_path_computes_what_the_fused_one_does(karate, layout):
    torch.manual_seed(0)
    model = NCGNN(34, 4, AttentionFilter(range(1, 4)), dropout=0.0)
    prepared = model.filter.prepare(karate.edge_index, 34)
    x = karate.x if layout == torch.strided else karate.x.to_sparse_csr()
    fused = model(x, prepared)
    plain = PlainNCGNN(model)(x, prepared)
    torch.testing.assert_close(fused, plain, atol=1e-5, rtol=1e-5)
    weights = list(model.parameters())
    pairs = zip(torch.autograd.grad(fused.sum(), weights), torch.autograd.grad(plain.sum(), weights), strict=True)
    for of_fused, of_plain in pairs:
        torch.testing.assert_close(of_fused, of_plain, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("changes", [{"filter": "diffusion"}, {"top_k": 3}, {"hidden": [(2, 4)]}])
def test_other_filters_and_hidden_layers_are_refused(changes):
    graph = PreparedGraph(complete(ncgnn.load_dataset("karate")))
    with pytest.raises(InputError, match="NCGNN, plain takes a filter that is a plain sum over hops"):
        MODEL.prepare(graph, Config.make(changes))
