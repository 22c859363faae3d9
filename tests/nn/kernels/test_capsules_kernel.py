import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

from ncgnn.nn.kernels.capsules import dense_votes, fused_capsules, fused_votes, new_seed
from ncgnn.sparse import Dense

N, FEATURES, K, SIZE, C, CLASS_SIZE = 60, 9, 3, 8, 4, 2


PRECISIONS = pytest.mark.parametrize(("dtype", "error"), [(torch.float64, 1e-11), (torch.float32, 1e-5)])


def random_inputs(dtype: torch.dtype):
    torch.manual_seed(0)
    x = torch.randn(N, FEATURES, dtype=dtype)
    x[3] = 0
    w_dot = torch.randn(FEATURES, K * SIZE, dtype=dtype, requires_grad=True)
    b_dot = torch.randn(K, SIZE, dtype=dtype, requires_grad=True)
    weight = torch.randn(K, SIZE, C, CLASS_SIZE, dtype=dtype, requires_grad=True)
    return x, w_dot, b_dot, weight


@pytest.fixture
def inputs():
    return random_inputs(torch.float64)


def plain_capsules(x, w_dot, b_dot):
    return F.normalize(F.relu((x @ w_dot).view(-1, K, SIZE) + b_dot), dim=-1)


def same_gradients(fused, plain, parameters, error):
    weight = torch.randn_like(plain)
    gradients = torch.autograd.grad((fused * weight).sum(), parameters)
    expected = torch.autograd.grad((plain * weight).sum(), parameters)
    for gradient, wanted in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, wanted, atol=error, rtol=error)


def kept_entries(x, w_dot, b_dot, dropout):
    """Capsules after dropout: under the identity as weights a vote is its capsule."""
    identity = torch.eye(SIZE, dtype=x.dtype).expand(K, SIZE, SIZE).unsqueeze(-1).contiguous()
    return fused_votes(Dense(x), w_dot, b_dot, identity, dropout, new_seed()).squeeze(-1).detach()


@PRECISIONS
def test_capsules_and_their_gradients_equal_the_plain_ones(dtype, error):
    x, w_dot, b_dot, _ = random_inputs(dtype)
    fused, plain = fused_capsules(Dense(x), w_dot, b_dot), plain_capsules(x, w_dot, b_dot)
    torch.testing.assert_close(fused, plain, atol=error, rtol=0)
    same_gradients(fused, plain, [w_dot, b_dot], error)


def test_gradcheck_of_capsules_and_votes(inputs):
    x, w_dot, b_dot, weight = inputs
    few = Dense(x[:6])
    assert gradcheck(lambda w, b: fused_capsules(few, w, b), (w_dot, b_dot))

    def votes(w, b, v):
        torch.manual_seed(1)
        return fused_votes(few, w, b, v, 0.5, new_seed())

    assert gradcheck(votes, (w_dot, b_dot, weight))


@PRECISIONS
@pytest.mark.parametrize("dropout", [0.0, 0.5, 0.9])
def test_votes_and_their_gradients_equal_the_plain_ones_under_the_same_dropout(dropout, dtype, error):
    x, w_dot, b_dot, weight = random_inputs(dtype)
    torch.manual_seed(7)
    kept = kept_entries(x, w_dot, b_dot, dropout)
    torch.manual_seed(7)
    fused = fused_votes(Dense(x), w_dot, b_dot, weight, dropout, new_seed())
    capsules = plain_capsules(x, w_dot, b_dot)
    mask = torch.where(kept != 0, 1 / (1 - dropout), 0.0)
    plain = torch.einsum("jkp,kplc->jklc", capsules * mask, weight)
    torch.testing.assert_close(fused, plain, atol=error, rtol=error)
    same_gradients(fused, plain, [w_dot, b_dot, weight], error)


@pytest.mark.parametrize("dropout", [0.5, 0.9])
def test_dropout_keeps_each_entry_with_the_asked_probability(dropout):
    n, k, size = 4000, 2, 16
    x, w_dot, b_dot = torch.ones(n, 1), torch.ones(1, k * size), torch.zeros(k, size)
    identity = torch.eye(size).expand(k, size, size).unsqueeze(-1).contiguous()
    torch.manual_seed(0)
    kept = (fused_votes(Dense(x), w_dot, b_dot, identity, dropout, new_seed()).squeeze(-1) != 0).double()
    deviation = (dropout * (1 - dropout) / n) ** 0.5
    assert (kept.mean(dim=0) - (1 - dropout)).abs().max() < 5 * deviation  # every place is as likely
    pairs = torch.corrcoef(kept.flatten(1).t()).fill_diagonal_(0)
    assert pairs.abs().max() < 6 / n**0.5  # and independent of every other
    neighbours = torch.corrcoef(torch.stack([kept[:-1].flatten(), kept[1:].flatten()]))[0, 1]
    assert neighbours.abs() < 6 / (n * k * size) ** 0.5  # also between nodes


def test_dropout_follows_the_random_state_of_torch(inputs):
    x, w_dot, b_dot, _ = inputs
    torch.manual_seed(1)
    first, second = kept_entries(x, w_dot, b_dot, 0.9), kept_entries(x, w_dot, b_dot, 0.9)
    torch.manual_seed(1)
    assert torch.equal(first, kept_entries(x, w_dot, b_dot, 0.9))
    assert not torch.equal(first, second)


def test_capsules_that_are_zero_stay_zero_without_nan():
    w_dot = torch.zeros(FEATURES, K * SIZE, requires_grad=True)
    b_dot = torch.zeros(K, SIZE, requires_grad=True)
    weight = torch.ones(K, SIZE, C, CLASS_SIZE, requires_grad=True)
    x = Dense(torch.ones(5, FEATURES))
    for out in (fused_capsules(x, w_dot, b_dot), fused_votes(x, w_dot, b_dot, weight, 0.5, new_seed())):
        assert torch.equal(out, torch.zeros_like(out))
        for gradient in torch.autograd.grad(out.sum(), [w_dot, b_dot]):
            assert torch.equal(gradient, torch.zeros_like(gradient))


def test_votes_of_dense_capsules_equal_their_definition(inputs):
    x, w_dot, b_dot, weight = inputs
    h = plain_capsules(x, w_dot, b_dot)
    torch.testing.assert_close(dense_votes(h, weight), torch.einsum("jkp,kplc->jklc", h, weight))
    few = h[:5].detach().requires_grad_()
    assert gradcheck(dense_votes, (few, weight))


def test_a_feature_that_is_no_number_is_seen_in_training_and_in_prediction():
    x = torch.ones(4, 2)
    x[2, 0] = float("nan")
    w_dot, b_dot = torch.rand(2, K * SIZE), torch.zeros(K, SIZE)
    weight = torch.rand(K, SIZE, C, CLASS_SIZE)
    torch.manual_seed(0)
    for out in (fused_capsules(Dense(x), w_dot, b_dot), fused_votes(Dense(x), w_dot, b_dot, weight, 0.5, new_seed())):
        broken = out.flatten(1).isnan().any(dim=1)
        assert broken.tolist() == [False, False, True, False]
