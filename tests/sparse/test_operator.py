import pytest
import torch

from ncgnn.sparse import Dense, Reused


class Counted(Dense):
    products = 0

    def product(self, dense):
        self.products += 1
        return super().product(dense)


@pytest.fixture
def weight():
    return torch.nn.Parameter(torch.rand(3, 2))


def test_a_product_is_kept_until_the_weights_change(weight):
    x = torch.rand(4, 3)
    operator = Counted(x)
    reused = Reused(operator)
    with torch.no_grad():
        reused @ weight
    assert torch.equal(reused @ weight, x @ weight)
    assert operator.products == 1
    reused @ weight
    with torch.no_grad():
        weight.mul_(2)
    assert torch.equal(reused @ weight, x @ weight)
    assert operator.products == 3


def test_the_caller_may_write_into_a_product(weight):
    x = torch.rand(4, 3)
    reused = Reused(Dense(x))
    reused.product(weight.detach()).zero_()
    assert torch.equal(reused.product(weight.detach()), x @ weight)


def test_a_step_of_the_optimiser_is_a_change(weight):
    x = torch.rand(4, 3)
    reused = Reused(Dense(x))
    optimizer = torch.optim.Adam([weight])
    for _ in range(2):
        (reused @ weight).square().sum().backward()
        optimizer.step()
    assert torch.equal(reused @ weight, x @ weight)


def test_other_weights_get_their_own_product_and_gradients_are_those_of_the_matrix(weight):
    x = torch.rand(4, 3)
    reused, other = Reused(Dense(x)), torch.rand(3, 2)
    reused @ weight
    assert torch.equal(reused @ other, x @ other)
    (reused @ weight).sum().backward()
    torch.testing.assert_close(weight.grad, x.sum(dim=0)[:, None].expand(3, 2))


def test_memory_that_is_used_again_is_not_taken_for_the_same_factor():
    x = torch.rand(4, 3000)
    reused = Reused(Dense(x))
    for _ in range(20):
        short_lived = torch.rand(3000, 2)
        torch.testing.assert_close(reused.product(short_lived), x @ short_lived)
        del short_lived
