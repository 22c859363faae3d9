from math import isnan

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ncgnn.check.homophily import Homophily, homophily_findings, measure_homophily
from ncgnn.check.view import View
from ncgnn.data import load_dataset, syn_cora


def graph(edges: list[tuple[int, int]], y: list[int]) -> View:
    ends = torch.tensor([*edges, *((b, a) for a, b in edges)]).t()
    return View.of(Data(x=torch.ones(len(y), 1), edge_index=ends, y=torch.tensor(y)))


def by_pairs(view: View) -> tuple[float, float]:
    """Adjusted agreement along one and two steps, from all pairs of nodes."""
    a, y = view.adjacency.toarray().astype(float), view.y
    two = a @ np.diag(1 / np.maximum(a.sum(axis=0), 1)) @ a
    np.fill_diagonal(two, 0)
    known = np.outer(y >= 0, y >= 0)
    out = []
    for weight in (a * known, two * known):
        of_class = np.array([weight[y == c].sum() for c in range(y.max() + 1)]) / weight.sum()
        agreeing = weight[y[:, None] == y[None, :]].sum() / weight.sum()
        out.append((agreeing - (of_class**2).sum()) / (1 - (of_class**2).sum()))
    return out[0], out[1]


def test_a_path_by_hand():
    # a a b b: two of three edges within a class; each class has half of the degrees, so chance is 1/2
    found = measure_homophily(graph([(0, 1), (1, 2), (2, 3)], [0, 0, 1, 1]))
    assert found.edge == pytest.approx(2 / 3)
    assert found.adjusted == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert found.two_steps == pytest.approx(-1)  # 0 and 2, 1 and 3: always different


def test_two_classes_that_only_link_to_each_other_agree_after_two_steps():
    found = measure_homophily(graph([(a, b) for a in range(4) for b in range(4, 8)], [0] * 4 + [1] * 4))
    assert (found.edge, found.adjusted, found.two_steps) == (0, -1, 1)
    assert "two hops" in found.meaning


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_it_is_what_all_pairs_of_nodes_give(share):
    data = syn_cora(share, num_nodes=120, seed=3)
    data.y[torch.arange(0, 120, 5)] = -1
    view = View.of(data)
    found = measure_homophily(view)
    assert (found.adjusted, found.two_steps) == pytest.approx(by_pairs(view))


def test_labels_by_chance_are_at_zero():
    data = syn_cora(0.2, num_nodes=3000, seed=1)
    found = measure_homophily(View.of(data))
    assert abs(found.adjusted) < 0.03
    (finding,) = homophily_findings(found)
    assert finding.level == "note"


def test_nothing_is_said_where_nothing_is_known():
    found = measure_homophily(graph([(0, 1), (1, 2)], [0, -1, 1]))
    assert isnan(found.adjusted)
    assert "no advice on hops" in found.meaning
    assert homophily_findings(found) == []


@pytest.mark.parametrize(
    ("adjusted", "two_steps", "meaning"),
    [
        (0.8, 0.7, "Neighbours mostly share a class"),
        (0.2, 0.1, "Neighbours help but often differ"),
        (-0.2, 0.3, "Nodes two hops apart agree more than neighbours"),
        (0.0, 0.0, "Labels of neighbours say little"),
    ],
)
def test_the_meaning_follows_the_numbers(adjusted, two_steps, meaning):
    assert Homophily(0, 0, adjusted, two_steps, 9).meaning.startswith(meaning)


def test_known_graphs_have_the_published_values(benchmark):
    """Platonov et al., 2023."""
    published = {
        "cora": 0.77,
        "citeseer": 0.67,
        "squirrel": 0.01,
        "chameleon": 0.03,
        "actor": 0.00,
        "minesweeper": 0.01,
    }
    for name, adjusted in published.items():
        assert round(measure_homophily(View.of(load_dataset(name))).adjusted, 2) == pytest.approx(adjusted, abs=0.0101)
