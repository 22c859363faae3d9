import numpy as np
import pytest
import torch
from scipy.stats import chi2_contingency

from ncgnn.explain import ahead_of_others, by_node, decisive
from ncgnn.explain.quality import OURS, SORTED, explain, rankings
from ncgnn.explain.quality.compared import EXACT, in_turn, integrated_gradients, personal_pagerank
from ncgnn.explain.quality.hop_by_hop import HopByHop
from ncgnn.explain.quality.pgm_explainer import dependence, pgm_explainer
from ncgnn.explain.quality.shapley import captum_gradients, captum_shapley, exact_shapley
from ncgnn.explain.quality.strengths import Heard, HeardThroughEdges

DRAWN = ("GNNExplainer", "GNNExplainer, edges", "PGMExplainer", "Captum, Shapley sampling", "random")


def test_the_message_passing_form_has_the_model_s_probabilities(subject):
    found = HopByHop(subject)(subject.everyone[:, None], subject.edge_index)
    torch.testing.assert_close(found, subject.probabilities, atol=1e-6, rtol=1e-5)


def test_every_method_ranks_every_node_and_leaves_the_model_as_it_was(subject):
    methods = rankings(subject, [0])
    assert list(methods)[:2] == [OURS, SORTED]
    assert {"GNNExplainer", "PGExplainer", "PGMExplainer", EXACT, "personalised PageRank"} < set(methods)
    for name, ranking in methods.items():
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


def test_absent_strengths_remove_nodes_and_full_ones_change_nothing(subject):
    heard, edges = torch.tensor([2, 4]), torch.tensor([[2, 4], [1, 1]])
    everyone, some = subject.everyone[:, None], torch.tensor([[0.0], [1.0]])
    torch.testing.assert_close(Heard(subject, heard)(everyone[heard], edges), subject.probabilities)
    torch.testing.assert_close(HeardThroughEdges(subject)(everyone, edges), subject.probabilities)
    left = subject.scores(torch.tensor([1.0, 1, 0, 1, 1]))
    torch.testing.assert_close(Heard(subject, heard)(some, edges), left / left.sum(dim=1, keepdim=True))


def test_exact_shapley_values_add_up_and_give_nothing_to_those_that_are_not_heard(subject):
    predicted = int(subject.predicted[4])
    nobody = subject.scores(torch.tensor([1.0, 1, 0, 0, 0]))[4]  # 2, 3 and 4 are heard
    found = exact_shapley(subject, 4)
    brought = subject.probabilities[4, predicted] - nobody[predicted] / nobody.sum()
    assert found.sum().item() == pytest.approx(brought.item(), abs=1e-6)
    assert found[:2].tolist() == [0, 0]


def test_exact_shapley_values_are_only_for_nodes_that_hear_few(subject, monkeypatch):
    monkeypatch.setattr("ncgnn.explain.quality.compared.FEW", 4)
    assert EXACT in rankings(subject, [4])
    assert EXACT not in rankings(subject, [4, 2]), "node 2 hears all five"
    assert EXACT not in rankings(subject)


def test_captum_agrees_with_exact_values(subject):
    pytest.importorskip("captum", reason="install captum")
    exact = exact_shapley(subject, 4)
    torch.testing.assert_close(captum_shapley(subject, 4), exact, atol=1e-3, rtol=0)
    torch.testing.assert_close(captum_gradients(subject, 4), exact, atol=1e-3, rtol=0)


def test_captum_shares_the_rest_out_by_filter_weights(subject, monkeypatch):
    pytest.importorskip("captum", reason="install captum")
    monkeypatch.setattr("ncgnn.explain.quality.shapley.PLAYERS", 1)
    found, weight = captum_shapley(subject, 4), rankings(subject)["filter weights"](subject, 4)
    assert found.sum().item() == pytest.approx(exact_shapley(subject, 4).sum().item(), abs=1e-6)
    rest = weight.argsort(descending=True)[1:3]
    torch.testing.assert_close(found[rest] / found[rest].sum(), weight[rest] / weight[rest].sum())


def test_pgm_explainer_tests_for_independence(subject):
    draw = np.random.default_rng(0)
    own = draw.integers(4, size=200)
    states = np.stack([draw.integers(4, size=200), (own + (draw.random(200) < 0.3)) % 4], axis=1)
    found = dependence(torch.from_numpy(states), torch.from_numpy(own))
    for column, value in zip(states.T, found.tolist(), strict=True):
        counts = np.histogram2d(column, own, bins=4)[0]
        assert value == pytest.approx(-np.log(chi2_contingency(counts, correction=False).pvalue))
    assert pgm_explainer(subject, 3).argmax() == 3


def test_personalised_pagerank_is_the_share_of_time_of_a_walk(subject):
    a = torch.zeros(5, 5, dtype=torch.float64).index_put(tuple(subject.edge_index), torch.ones(10, dtype=torch.float64))
    steps = (a / a.sum(dim=0)).float()
    exact = 0.15 * torch.linalg.inv(torch.eye(5) - 0.85 * steps)[:, 0]
    torch.testing.assert_close(personal_pagerank(subject, 0), exact, atol=1e-3, rtol=0)
