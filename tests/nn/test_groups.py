"""Several groups of capsules, and beliefs."""

import pytest
import torch
from torch.autograd import gradcheck

import ncgnn
from ncgnn.nn import Beliefs, CapsuleGroup, PrimaryCapsules, route
from ncgnn.nn.kernels.routing import fused_route
from ncgnn.sparse import Dense, as_operator

RING = torch.tensor([[0, 1, 2, 3, 4, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 0, 1, 2, 3, 4]])
N, K, C, SIZE = 5, (2, 3), 3, 4


def random_parts():
    torch.manual_seed(3)
    votes = torch.randn(N, sum(K), C, SIZE, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(C, SIZE, dtype=torch.float64, requires_grad=True)
    filters = [torch.rand(N, N, dtype=torch.float64).requires_grad_() for _ in K]
    return votes, bias, filters


def two_groups(beliefs: bool = False, **options) -> ncgnn.NCGNN:
    torch.manual_seed(0)
    further: list[CapsuleGroup | Beliefs] = [
        CapsuleGroup("links", PrimaryCapsules(N, 3, 6), ncgnn.AttentionFilter([0]))
    ]
    if beliefs:
        further.append(Beliefs(C, SIZE, ncgnn.AttentionFilter([1], has_loops=False)))
    model = ncgnn.NCGNN(
        4,
        C,
        ncgnn.AttentionFilter([0, 1, 2]),
        num_capsules=2,
        primary_channels=6,
        class_channels=SIZE,
        groups=further,
        **options,
    )
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model.double().eval()


def inputs_of(model: ncgnn.NCGNN) -> tuple[list[torch.Tensor], list[ncgnn.nn.PreparedFilter]]:
    torch.manual_seed(1)
    known = torch.tensor([[1.0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]])
    x = [torch.randn(N, 4), torch.rand(N, N), known][: len(model.groups)]
    filters = [group.filter.prepare(RING, N, dtype=torch.float64) for group in model.groups]
    return [one.double() for one in x], filters


@pytest.mark.parametrize("iterations", [1, 3])
def test_fused_routing_of_groups_equals_plain_routing_and_so_do_its_gradients(iterations):
    votes, bias, filters = random_parts()
    plain = route(votes, [Dense(a) for a in filters], bias, iterations, 2.0, sizes=K)
    v, c, u = fused_route(votes, [Dense(a) for a in filters], bias, iterations, 2.0, None, sizes=K)
    for fused, expected in ((v, plain.capsules), (c, plain.couplings), (u, plain.u)):
        torch.testing.assert_close(fused, expected, atol=1e-12, rtol=0)
    weight = torch.randn_like(v)
    parts = [votes, bias, *filters]
    found = torch.autograd.grad((v * weight).sum(), parts)
    wanted = torch.autograd.grad((plain.capsules * weight).sum(), parts)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=1e-12)


def test_gradcheck_of_fused_routing_of_groups():
    votes, bias, filters = random_parts()

    def capsules(votes, bias, *filters):
        return fused_route(votes, [Dense(a) for a in filters], bias, 3, 2.0, None, sizes=K)[0]

    assert gradcheck(capsules, (votes, bias, *filters))


def test_groups_with_the_same_input_and_filter_are_one_group():
    votes, bias, (a, _) = random_parts()
    apart = fused_route(votes, [Dense(a), Dense(a)], bias, 3, 2.0, None, sizes=K)
    together = fused_route(votes, Dense(a), bias, 3, 2.0, None)
    for one, other in zip(apart, together, strict=True):
        torch.testing.assert_close(one, other, atol=1e-14, rtol=0)


def test_couplings_sum_to_one_over_the_capsules_of_all_groups_but_beliefs():
    model = two_groups(beliefs=True)
    _, routing = model(*inputs_of(model), return_routing=True)
    assert routing.couplings.shape == (N, 2 + 3 + C, C)
    torch.testing.assert_close(routing.couplings[:, :5].sum(dim=1), torch.ones(N, C).double())
    assert (routing.couplings[:, 5:] == 1).all()


def test_a_class_capsule_is_the_sum_of_what_each_group_sends():
    model = two_groups(beliefs=True)
    x, prepared = inputs_of(model)
    _, routing = model(x, prepared, return_routing=True)
    filters = model.filters([as_operator(one) for one in x], prepared)
    said = (routing.couplings.unsqueeze(-1) * routing.votes).split([2, 3, C], dim=1)
    total = sum(a @ part.sum(dim=1) for a, part in zip(filters, said, strict=True)) + model.layers[0].bias
    torch.testing.assert_close(routing.u, total)


def test_beliefs_of_zero_weight_say_nothing():
    model = two_groups(beliefs=True)
    torch.nn.init.zeros_(model.beliefs.weight)
    x, prepared = inputs_of(model)
    _, routing = model(x, prepared, return_routing=True)
    assert not routing.votes[:, 5:].any()


def test_the_own_class_of_a_node_does_not_reach_its_score():
    model = two_groups(beliefs=True)
    x, prepared = inputs_of(model)
    before = model(x, prepared)
    x[-1] = x[-1].clone()
    x[-1][0] = torch.tensor([0.0, 0, 1])
    after = model(x, prepared)
    assert torch.equal(before[0], after[0])
    assert not torch.equal(before[1], after[1])


def test_beliefs_of_known_nodes_are_their_classes_and_others_sum_to_one():
    model = two_groups(beliefs=True)
    x, _ = inputs_of(model)
    shares = model.beliefs.shares(as_operator(x[-1]), torch.rand(N, C).double())
    assert torch.equal(shares[[0, 2]], x[-1][[0, 2]])
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(N).double())


@pytest.mark.parametrize("filter", [ncgnn.AttentionFilter([1]), ncgnn.AttentionFilter([1, 2], has_loops=False)])
def test_a_filter_that_could_leak_a_node_its_own_class_is_refused(filter):
    with pytest.raises(ValueError, match="own class would leak"):
        Beliefs(C, SIZE, filter)


def test_a_filter_without_loops_leaves_out_the_node_itself():
    filter = ncgnn.AttentionFilter([1], has_loops=False)
    matrix = filter(filter.prepare(RING, N)).to_dense()
    assert not matrix.diagonal().any()
    assert filter.cache_key != ncgnn.AttentionFilter([1]).cache_key


def test_the_wrong_number_of_inputs_or_filters_is_refused():
    model = two_groups()
    x, prepared = inputs_of(model)
    with pytest.raises(ValueError, match="2 groups of capsules: give an input and a filter for each, not 1 and 2"):
        model(x[:1], prepared)


def test_groups_that_cannot_be_routed_together_are_refused():
    with pytest.raises(ValueError, match="single capsule layer"):
        two_groups(hidden=[(2, 3)])
    odd = CapsuleGroup("odd", PrimaryCapsules(N, 3, 7), ncgnn.AttentionFilter([0]))
    with pytest.raises(ValueError, match="capsules of the same size"):
        ncgnn.NCGNN(4, C, ncgnn.AttentionFilter([1]), primary_channels=6, groups=[odd])
    beliefs = Beliefs(C, SIZE, ncgnn.AttentionFilter([1], has_loops=False))
    with pytest.raises(ValueError, match="put them last"):
        ncgnn.NCGNN(4, C, ncgnn.AttentionFilter([1]), primary_channels=6, groups=[beliefs, odd])


def test_one_group_has_the_weights_and_names_of_the_first_release():
    model = ncgnn.NCGNN(4, C, ncgnn.AttentionFilter([0, 1]))
    names = {"primary.weight", "primary.bias", "filter.zeta", "layers.0.weight", "layers.0.bias"}
    assert set(model.state_dict()) == names


def test_gradcheck_of_beliefs():
    model = two_groups(beliefs=True)
    x, prepared = inputs_of(model)
    weights = dict(model.named_parameters())

    def scores(*values):
        return torch.func.functional_call(model, dict(zip(weights, values, strict=True)), (x, prepared))

    assert gradcheck(scores, tuple(weights.values()))
