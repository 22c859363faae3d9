import pytest
import torch

from ncgnn.explain import ahead_of_others, by_node, decisive
from ncgnn.explain.quality import OURS, SORTED, explain, rankings
from ncgnn.explain.quality.compared import in_turn, integrated_gradients
from ncgnn.explain.quality.hop_by_hop import HopByHop

DRAWN = ("GNNExplainer", "GNNExplainer, edges", "random")


def test_the_message_passing_form_has_the_model_s_probabilities(subject):
    found = HopByHop(subject)(subject.everyone[:, None], subject.edge_index)
    torch.testing.assert_close(found, subject.probabilities, atol=1e-6, rtol=1e-5)


def test_every_method_ranks_every_node_and_leaves_the_model_as_it_was(subject):
    assert list(rankings(subject))[:2] == [OURS, SORTED]
    for name, ranking in rankings(subject).items():
        (importance,) = explain(subject, [0], ranking)
        assert importance.shape == (5,), name
        assert torch.isfinite(importance).all(), name
    assert all(parameter.grad is None for parameter in subject.trace.model.parameters())


def test_a_repeat_draws_anew_only_where_something_is_drawn(subject):
    for name, ranking in rankings(subject).items():
        first, other = (explain(subject, [2], ranking, repeat)[0] for repeat in (0, 1))
        assert torch.equal(first, other) == (name not in DRAWN), name


def test_the_random_state_of_the_caller_is_not_touched(subject):
    before = torch.get_rng_state()
    explain(subject, [0], rankings(subject)["random"])
    assert torch.equal(torch.get_rng_state(), before)


def test_integrated_gradients_add_up_to_what_presence_brings(subject):
    predicted = int(subject.predicted[1])
    nobody = subject.scores(0 * subject.everyone)[1]
    brought = subject.probabilities[1, predicted] - nobody[predicted] / nobody.sum()
    assert integrated_gradients(subject, 1).sum().item() == pytest.approx(brought.item(), abs=5e-3)


def test_nodes_in_turn_are_in_the_order_in_which_they_are_decisive(subject):
    order = decisive(subject.trace, 0, int(subject.predicted[0]))
    assert in_turn(subject, 0).argsort(descending=True)[: len(order)].tolist() == order.tolist()


def test_ahead_of_others_adds_up_to_the_lead_over_their_mean(subject):
    trace, nodes = subject.trace, torch.arange(5)
    targets = ahead_of_others(trace, nodes, subject.predicted)
    best = trace.lengths.gather(1, subject.predicted[:, None])[:, 0]
    lead = best - (trace.lengths.sum(dim=1) - best) / (trace.lengths.shape[1] - 1)
    torch.testing.assert_close(targets.along(trace.routing.u), lead)
    bias = (trace.bias[targets.classes] * targets.direction).sum(dim=(1, 2))
    torch.testing.assert_close(by_node(trace, targets).sum(dim=1) + bias, lead, atol=1e-5, rtol=1e-5)
