import pytest
import scipy.sparse as sp
import torch

from ncgnn.sparse import CSR
from ncgnn.sparse.attention import attend, attend_plain


@pytest.fixture
def parts():
    """Twelve nodes that attend to nine others with two heads; one attends to none."""
    matrix = sp.random(12, 9, density=0.4, random_state=0, format="lil")
    matrix[3] = 0
    pattern = CSR.from_scipy(matrix.tocsr(), torch.float64).pattern
    torch.manual_seed(0)
    sizes = (9, 2, 4), (12, 2), (9, 2)
    h, to, of = (torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes)
    kept = (torch.rand(pattern.indices.numel(), 2, dtype=torch.float64) > 0.3) * 1.5
    return h, to, of, pattern, kept


@pytest.mark.parametrize("drops", [False, True])
def test_the_fused_sum_and_its_gradients_are_those_of_plain_operations(parts, drops):
    h, to, of, pattern, kept = parts
    found = []
    for function in (attend, attend_plain):
        out = function(h, to, of, pattern, 0.2, kept if drops else None)
        gradients = torch.autograd.grad((out * torch.arange(out.numel()).view_as(out)).sum(), (h, to, of))
        found.append((out, *gradients))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_are_those_of_finite_differences(parts):
    h, to, of, pattern, kept = parts
    assert torch.autograd.gradcheck(lambda h, to, of: attend(h, to, of, pattern, 0.2, kept), (h, to, of))


def test_a_node_without_others_gets_zeros(parts):
    h, to, of, pattern, _ = parts
    assert not attend(h, to, of, pattern, 0.2)[3].any()
