import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GCNConv

from ncgnn.models.base.layers import LayerSettings, LayerStack, dropout
from ncgnn.sparse import CSR, Dense, cheaper_operator, normalized_adjacency, thinned
from ncgnn.train import Epoch


def graph() -> tuple[Tensor, Tensor]:
    """Features with many zeros, and edges in both directions with an isolated node."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(12, 9, generator=generator) * (torch.rand(12, 9, generator=generator) < 0.2)
    there = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5]])
    return x, torch.cat([there, there.flip(0)], dim=1)


def operator(edges: Tensor) -> CSR:
    return CSR.from_scipy(normalized_adjacency(edges, 12), torch.float32)


def pyg(stack: LayerStack, x: Tensor, edges: Tensor) -> Tensor:
    for i, weight in enumerate(stack.weights):
        layer = GCNConv(*weight.shape, bias=False)
        layer.lin.weight = torch.nn.Parameter(weight.detach().t())
        x = layer(x.relu() if i else x, edges)
    return x


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_a_gcn_is_the_stack_of_pygs_layers(layers):
    x, edges = graph()
    stack = LayerStack(9, 3, layers, 7, 0.5).eval()
    torch.testing.assert_close(stack(cheaper_operator(x), operator(edges)), pyg(stack, x, edges))


def test_the_weights_learn_what_pygs_learn():
    x, edges = graph()
    stack = LayerStack(9, 3, 2, 7, 0.0)
    stack(cheaper_operator(x), operator(edges)).square().sum().backward()
    first, second = (weight.detach().clone().requires_grad_() for weight in stack.weights)
    a = operator(edges).to_dense()
    (a @ (a @ x @ first).relu() @ second).square().sum().backward()
    torch.testing.assert_close([w.grad for w in stack.weights], [first.grad, second.grad])


def test_an_mlp_does_not_see_the_graph():
    x, _ = graph()
    stack = LayerStack(9, 3, 2, 7, 0.5).eval()
    first, second = stack.weights
    torch.testing.assert_close(stack(cheaper_operator(x), None), (x @ first).relu() @ second)


@pytest.mark.parametrize("kind", [CSR, Dense])
def test_dropout_keeps_the_mean_and_drops_the_given_share(kind):
    x = torch.ones(400, 500) if kind is Dense else torch.eye(100_000 // 200).repeat(200, 1)
    before = cheaper_operator(x)
    assert isinstance(before, kind)
    after = thinned(before, 0.3)
    values = after.parameter
    assert values.unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert (values == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    assert values.mean().item() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5])
def test_dropout_is_that_of_plain_operations_with_the_same_numbers(rate, dtype):
    values = torch.randn(700, 600, dtype=dtype)
    torch.manual_seed(1)
    found = thinned(Dense(values), rate).parameter
    torch.manual_seed(1)
    assert torch.equal(found, values * (torch.rand_like(values) >= rate) / (1 - rate))


def test_dropout_is_for_training_alone():
    x, edges = graph()
    stack, features, a = LayerStack(9, 3, 2, 7, 0.5), cheaper_operator(x), operator(edges)
    assert not torch.equal(stack(features, a), stack(features, a))
    stack.eval()
    assert torch.equal(stack(features, a), stack(features, a))


def test_a_window_ends_a_run_whose_loss_is_above_the_mean_of_those_before():
    rule = LayerSettings(model="gcn", stop="window", patience=3)
    for losses, over in (
        ((3, 2, 1, 2.1), True),
        ((3, 2, 1, 1.9), False),
        ((9, 3, 2, 1, 2.1), True),
        ((1, 2, 3), False),
    ):
        history = [Epoch(i + 1, 1.0, loss, 0.5) for i, loss in enumerate(losses)]
        assert rule.stopping.is_over(history, history[-1]) == over


def test_dropout_keeps_the_mean_and_passes_gradients_of_what_is_kept():
    torch.manual_seed(0)
    h = torch.ones(400, 50, requires_grad=True)
    out = dropout(h, 0.6, training=True)
    assert out.unique().tolist() == pytest.approx([0, 2.5])
    assert (out == 0).double().mean().item() == pytest.approx(0.6, abs=0.01)
    out.sum().backward()
    assert torch.equal(h.grad, out.detach())
    assert dropout(h, 0.6, training=False) is h
    assert dropout(h, 0.0, training=True) is h
