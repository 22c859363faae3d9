import numpy as np
import pytest
import torch
from torch import nn

from helpers.batches import FILTERS, batches_of, config, module_for
from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL

BATCHES = {"batch": 40, "batch_routing": "exact"}


def full_scores(graph, settings, module):
    return MODEL.scores(module, MODEL.prepare(graph, settings))[0]


@torch.no_grad()
def batch_scores(graph, settings, module, nodes):
    part, _ = MODEL.prepare(graph, settings).only(graph.data, nodes)
    return part.scores(module.eval())


@pytest.mark.parametrize("filter", FILTERS)
def test_exact_batches_and_the_sweep_give_the_scores_of_the_full_batch(graph, filter):
    settings = config(**FILTERS[filter])
    module = module_for(graph, settings)
    expected = full_scores(graph, settings, module)
    batches = batches_of(graph, config(**FILTERS[filter], **BATCHES))
    everywhere = torch.ones_like(graph.data.train_mask)
    torch.testing.assert_close(MODEL.scores(module, batches)[0], expected, atol=1e-6, rtol=0)
    with torch.no_grad():
        found = batches.only(graph.data, everywhere)[0].scores(module)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


def test_exact_batches_are_smaller_than_the_graph(graph):
    batches = batches_of(graph, config(hops=[1], top_k=2, batch=1, batch_routing="exact"))
    sizes = [len(part.around.nodes) for part in batches.parts(np.arange(5))]
    assert max(sizes) < graph.data.num_nodes / 2


@pytest.mark.parametrize("routing", ["exact", "local", "history"])
def test_one_batch_of_all_nodes_is_the_full_batch(graph, routing):
    settings = config()
    module = module_for(graph, settings)
    everywhere = torch.ones_like(graph.data.train_mask)
    one = config(batch=graph.data.num_nodes, batch_routing=routing)
    found = batch_scores(graph, one, module, everywhere)
    torch.testing.assert_close(found, full_scores(graph, settings, module), atol=1e-6, rtol=0)


@pytest.mark.parametrize("routing", ["local", "history"])
def test_approximations_differ_from_the_full_batch(graph, routing):
    settings = config(batch=20, batch_routing=routing)
    module = module_for(graph, settings)
    batches = batches_of(graph, settings)
    batches.memory.refresh(module, 1)
    for layer in module.capsule_layers:
        layer.weight.data.mul_(1.5)  # what is remembered is of other weights
    part, _ = batches.only(graph.data, graph.data.test_mask)
    with torch.no_grad():
        gap = (part.scores(module.eval()) - full_scores(graph, config(), module)[graph.data.test_mask]).abs().max()
    assert 1e-4 < gap < 0.5


def test_a_fresh_history_is_exact(graph):
    settings = config(batch=30, batch_routing="history")
    module = module_for(graph, settings)
    batches = batches_of(graph, settings)
    batches.memory.refresh(module, 1)
    part, _ = batches.only(graph.data, graph.data.test_mask)
    with torch.no_grad():
        found = part.scores(module.eval())
    expected = full_scores(graph, config(), module)[graph.data.test_mask]
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("filter", FILTERS)
def test_gradients_of_an_exact_batch_are_those_of_the_full_batch(graph, filter):
    settings = config(**FILTERS[filter])
    module = module_for(graph, settings).train()
    objective, train = MODEL.training(module, settings).objective, graph.data.train_mask
    batches = batches_of(graph, config(**FILTERS[filter], batch=100, batch_routing="exact"))
    ((batch, split),) = batches.batches(1, graph.data, train)
    found = gradients(module, objective.loss(lambda inputs: inputs.scores(module), batch, split))
    whole = MODEL.prepare(graph, settings)
    expected = gradients(module, objective.loss(lambda inputs: inputs.scores(module), whole, graph.data))
    assert expected.abs().max() > 1e-3
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)


def gradients(module: nn.Module, loss: torch.Tensor) -> torch.Tensor:
    module.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in module.parameters() if p.grad is not None])


@pytest.mark.usefixtures("benchmark")
@pytest.mark.parametrize("name", ["cora", "pubmed"])
def test_real_graphs(name):
    graph = PreparedGraph(complete(usual_split(load_dataset(name), 0)))
    settings = config(top_k=16, hops=[0, 1, 2])
    module = module_for(graph, settings)
    expected = full_scores(graph, settings, module)
    batches = batches_of(graph, config(top_k=16, hops=[0, 1, 2], batch=100, batch_routing="exact"))
    torch.testing.assert_close(MODEL.scores(module, batches)[0], expected, atol=1e-5, rtol=0)
    with torch.no_grad():
        found = batches.only(graph.data, graph.data.val_mask)[0].scores(module)
    torch.testing.assert_close(found, expected[graph.data.val_mask], atol=1e-5, rtol=0)
