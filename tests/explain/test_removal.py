"""Nodes in the order in which they are missed."""

from itertools import combinations

import pytest
import torch

from ncgnn.explain import GraphExplainer, decisive
from ncgnn.explain.contributions import rows


def lead_without(trace, node: int, chosen: int, gone: list[int]) -> float:
    a = rows(trace.a_bar, torch.tensor([node]))[:, 0].clone()
    a[gone] = 0
    lengths = (torch.einsum("j,jlf->lf", a, trace.p) + trace.bias).norm(dim=-1)
    others = [length for l, length in enumerate(lengths.tolist()) if l != chosen]
    return lengths[chosen].item() - max(others)


@pytest.mark.parametrize("filter", ["attention", "exact", "attention, top 4"])
def test_the_first_is_the_one_that_is_missed_most(trained, filter):
    trace = trained("karate", filter)
    for node in range(0, 34, 5):
        chosen = int(trace.scores[node].argmax())
        order = decisive(trace, node, chosen).tolist()
        heard = rows(trace.a_bar, torch.tensor([node]))[:, 0].nonzero().flatten().tolist()
        assert sorted(order) == heard
        leads = {j: lead_without(trace, node, chosen, [j]) for j in heard}
        assert leads[order[0]] == pytest.approx(min(leads.values()), abs=1e-6)
        second = {j: lead_without(trace, node, chosen, [order[0], j]) for j in heard if j != order[0]}
        assert second[order[1]] == pytest.approx(min(second.values()), abs=1e-6)


def test_no_other_pair_is_missed_much_more(trained):
    trace = trained("karate", "attention")
    chosen = int(trace.scores[8].argmax())
    order = decisive(trace, 8, chosen).tolist()
    everyone = lead_without(trace, 8, chosen, [])
    best = min(lead_without(trace, 8, chosen, list(pair)) for pair in combinations(order, 2))
    assert everyone - lead_without(trace, 8, chosen, order[:2]) >= 0.9 * (everyone - best)


def test_ids_of_decisive_nodes(club, karate):
    explainer = GraphExplainer(club.scored(karate))
    found = explainer.decisive("33", top=3)
    chosen = int(explainer.trace.scores[33].argmax())
    assert found == [str(j) for j in decisive(explainer.trace, 33, chosen)[:3].tolist()]
