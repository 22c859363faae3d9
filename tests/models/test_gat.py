from typing import cast

import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv

import ncgnn
from ncgnn.data import complete
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.gat import MODEL, Attention, GATSettings
from ncgnn.train.loop import class_scores


def attention(h: torch.Tensor, layer, a: torch.Tensor) -> torch.Tensor:
    """Each head of a layer [heads, N, width]: neighbours and the node itself, weighted by a softmax of LeakyReLU."""
    heads = []
    for head in range(layer.heads):
        wh = (h @ layer.lin.weight.t()).view(len(h), layer.heads, -1)[:, head]
        scores = F.leaky_relu((wh @ layer.att_dst[0, head])[:, None] + (wh @ layer.att_src[0, head])[None], 0.2)
        heads.append(scores.masked_fill(~a, float("-inf")).softmax(dim=1) @ wh)
    return torch.stack(heads)


def test_its_update_is_that_of_the_paper():
    data = complete(ncgnn.load_dataset("karate"))
    settings = GATSettings.make({"heads": 2, "width": 3, "out_heads": 2, "normalize_features": False})
    module = MODEL.build(Sizes.of(data), settings)
    a = torch.eye(34, dtype=torch.bool)
    a[data.edge_index[1], data.edge_index[0]] = True
    one, other = (cast(GATConv, layer) for layer in module.layers)
    with torch.no_grad():
        first = attention(data.x.to_dense(), one, a)
        hidden = F.elu(torch.cat(list(first), dim=1) + one.bias)
        expected = attention(hidden, other, a).mean(dim=0) + other.bias
    inputs = MODEL.prepare(PreparedGraph(data), settings)
    torch.testing.assert_close(class_scores(module, inputs), expected)
    torch.testing.assert_close(MODEL.hidden(module, inputs), hidden)


def test_a_layer_and_its_gradients_are_those_of_pyg():
    data = complete(ncgnn.load_dataset("karate"))
    (x, a), size = MODEL.prepare(PreparedGraph(data), GATSettings()).arguments, data.x.shape[1]
    torch.manual_seed(0)
    theirs = GATConv(size, 5, heads=3)
    ours = Attention(size, 5, heads=3)
    ours.load_state_dict(theirs.state_dict())
    out, expected = ours(x, a), theirs(x.to_dense(), data.edge_index)
    torch.testing.assert_close(out, expected)
    grad = torch.randn_like(out)
    out.backward(grad)
    expected.backward(grad)
    gradients = ([parameter.grad for parameter in layer.parameters()] for layer in (ours, theirs))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_dropout_leaves_attention_right_on_average():
    data = complete(ncgnn.load_dataset("karate"))
    x, a = MODEL.prepare(PreparedGraph(data), GATSettings()).arguments
    torch.manual_seed(0)
    layer = Attention(data.x.shape[1], 2, heads=1, dropout=0.5)
    with torch.no_grad():
        mean = torch.stack([layer.train()(x, a) for _ in range(2000)]).mean(dim=0)
        torch.testing.assert_close(mean, layer.eval()(x, a), atol=0.05, rtol=0)
        assert (layer.train()(x, a) - mean).abs().max() > 0.1


def test_its_published_settings():
    assert MODEL.published("cora") == GATSettings.make({"heads": 8, "width": 8, "lr": 0.005, "weight_decay": 5e-4})
    assert MODEL.published("pubmed").out_heads == 8
    assert MODEL.published("pubmed").lr == 0.01
    assert MODEL.published("pubmed", 3).layers == 3


def test_it_has_as_many_layers_as_asked():
    data = complete(ncgnn.load_dataset("karate"))
    for layers in (1, 3):
        settings = GATSettings.make({"layers": layers})
        module = MODEL.build(Sizes.of(data), settings)
        assert len(module.layers) == layers
        assert class_scores(module, MODEL.prepare(PreparedGraph(data), settings)).shape == (34, 4)
