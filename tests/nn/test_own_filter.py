"""A filter that a user writes: two methods are enough."""

import pytest
import torch
from torch import Tensor, nn

import ncgnn
from ncgnn.explain.contributions import by_hop, of_bias
from ncgnn.explain.targets import make_targets
from ncgnn.explain.trace import trace_model
from ncgnn.nn import GraphFilter, margin_loss


class Alternating(GraphFilter):
    """Every other hop, with learned weights of any sign."""

    def __init__(self, sparsify=None, form=None) -> None:
        super().__init__(sparsify, form)
        self.gain = nn.Parameter(torch.tensor([0.5, 0.3]))

    @property
    def cache_key(self) -> str:
        return f"alternating {self.sparsify} {self.form}"

    def coefficients(self) -> Tensor:
        zero = self.gain.new_zeros(1)
        return torch.cat([self.gain[:1], zero, self.gain[1:]])


@pytest.fixture
def data():
    return ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)


def model_on(data, **options) -> tuple[ncgnn.NCGNN, object]:
    torch.manual_seed(0)
    model = ncgnn.NCGNN(data.x.shape[1], 4, Alternating(**options), num_capsules=2, primary_channels=8, dropout=0.0)
    return model, model.filter.prepare(data.edge_index, data.num_nodes)


def test_implicit_and_explicit_forms_agree(data):
    (one, prepared), (other, built) = model_on(data), model_on(data, form="explicit")
    torch.testing.assert_close(one(data.x, prepared), other(data.x, built))


def test_its_parameters_are_learned(data):
    model, prepared = model_on(data)
    margin_loss(model(data.x, prepared)[data.train_mask], data.y[data.train_mask]).backward()
    assert isinstance(model.filter, Alternating)
    assert model.filter.gain.grad.abs().min() > 0


@pytest.mark.parametrize("options", [{}, {"form": "explicit"}, {"sparsify": ncgnn.TopK(3)}])
def test_its_hops_and_the_bias_add_up_to_the_score(data, options):
    model, prepared = model_on(data, **options)
    trace = trace_model(model, data.x, prepared)
    nodes = torch.arange(data.num_nodes)
    targets = make_targets(trace, nodes, trace.scores.argmax(dim=1))
    parts = sum(by_hop(trace, targets).values()) + of_bias(trace, targets)
    torch.testing.assert_close(parts, trace.lengths.max(dim=1).values)
