"""A removed node is one that nobody hears."""

import pytest
import torch

from ncgnn.explain.quality import Present
from ncgnn.nn import route
from ncgnn.sparse import Dense


def test_with_everyone_heard_the_model_says_what_it_says(subject):
    torch.testing.assert_close(subject.scores(subject.everyone), subject.trace.scores)


@pytest.mark.parametrize("removed", [[0], [1, 3], [0, 1, 2, 3, 4]])
def test_removal_is_a_run_of_the_whole_model_with_columns_of_the_filter_zeroed(subject, removed):
    trace, layer = subject.trace, subject.trace.layer
    matrix = trace.a_bar.to_dense().clone()
    matrix[:, removed] = 0
    whole = route(trace.routing.votes, Dense(matrix), trace.bias, layer.iterations, layer.beta).capsules.norm(dim=-1)
    found = subject.scores(subject.everyone.index_fill(0, torch.tensor(removed), 0.0))
    torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-5)


def test_couplings_answer_to_removal(subject):
    """So that removal is more than to subtract the contributions of a node, which hold couplings fixed."""
    trace, layer = subject.trace, subject.trace.layer
    heard = Present(trace.a_bar, subject.everyone.index_fill(0, torch.tensor([1]), 0.0))
    again = route(trace.routing.votes, heard, trace.bias, layer.iterations, layer.beta)
    assert (again.couplings - trace.routing.couplings).abs().max() > 1e-3


def test_gradients_by_presence_are_those_of_plain_operations(subject):
    trace, layer = subject.trace, subject.trace.layer
    presence = torch.tensor([0.9, 0.2, 1.0, 0.5, 0.7])
    ours, plain = presence.clone().requires_grad_(), presence.clone().requires_grad_()
    subject.scores(ours)[0, 1].backward()
    matrix = trace.a_bar.to_dense().detach() * plain
    votes, bias = trace.routing.votes.detach(), trace.bias
    u = route(votes, _Matrix(matrix), bias, layer.iterations, layer.beta).capsules
    u.norm(dim=-1)[0, 1].backward()
    torch.testing.assert_close(ours.grad, plain.grad, atol=1e-5, rtol=1e-4)


class _Matrix:
    def __init__(self, matrix: torch.Tensor) -> None:
        self.matrix = matrix

    def __matmul__(self, dense: torch.Tensor) -> torch.Tensor:
        return torch.tensordot(self.matrix, dense, 1)


def test_the_operator_is_linear_in_presence(subject):
    m, p = torch.rand(5), torch.rand(5, 3)
    expected = subject.trace.a_bar.to_dense() @ (m[:, None] * p)
    torch.testing.assert_close(Present(subject.trace.a_bar, m) @ p, expected)
    assert Present(subject.trace.a_bar, m).shape == (5, 5)
