import torch

from ncgnn.nn import proportions


def test_lengths_are_divided_by_their_sum():
    assert proportions(torch.tensor([1.0, 3.0])).tolist() == [0.25, 0.75]


def test_a_node_that_nothing_speaks_for_has_equal_shares():
    assert proportions(torch.tensor([[0.0, 0.0], [0.0, 1.0]])).tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_the_gradient_of_no_length_is_finite():
    lengths = torch.zeros(3, requires_grad=True)
    proportions(lengths)[0].backward()
    assert bool(lengths.grad.isfinite().all())
