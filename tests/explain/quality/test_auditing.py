"""The audit tells reasons that foresee true effects from those that do not."""

import pytest
import torch
from benchmarks.deceiver import HIDING, removal_of, secret_graph, trained

import ncgnn
from ncgnn.explain import GraphExplainer
from ncgnn.explain.quality.auditing import Audit, Foresight, affordable, audit, changes, foresight


@pytest.fixture(scope="module")
def secret():
    return secret_graph()


@pytest.fixture(scope="module")
def audits(secret) -> dict[str, Audit]:
    """Of an honest model and of one that hides what it uses, both right about every node."""
    found = {}
    for name, hiding in {"honest": 0.0, "deceiver": HIDING}.items():
        removal = removal_of(trained(secret, hiding), secret)
        assert (removal.subject.predicted == secret.y).all(), name
        found[name] = audit(removal, range(0, 160, 10))
    return found


def test_a_model_that_hides_a_feature_it_uses_is_caught(audits):
    assert audits["deceiver"].verdict.startswith("Do not trust these reasons: removing features")
    assert audits["deceiver"].features.agreement < 0.3
    assert audits["deceiver"].features.hidden > 0.4


def test_an_honest_model_of_the_same_graph_passes(audits):
    assert audits["honest"].is_trusted
    assert audits["honest"].features.agreement > 0.85
    assert audits["honest"].features.hidden < 0.1
    assert "can be trusted" in audits["honest"].short


@pytest.fixture(scope="module")
def explainer(club, karate) -> GraphExplainer:
    return GraphExplainer(club.scored(karate))


def test_true_changes_are_those_of_a_run_without_the_node(explainer):
    removal, node = explainer.removal, 33
    rows = changes(removal, node, "neighbours", torch.Generator().manual_seed(0))
    assert len(rows) == 10
    assert rows[:, 2].tolist() == [1.0] * 5 + [0.0] * 5
    first, second = removal.trace.scores[node].topk(2).indices
    order = sorted(range(5), key=lambda row: -abs(rows[row, 0]))
    assert order == list(range(5))
    lead = removal.trace.lengths[node, first] - removal.trace.lengths[node, second]
    effects = set()
    for other in range(34):
        after = removal.scores_without(node, {"neighbours": [other]})[1]
        effects.add(round(float(lead - (after[first] - after[second])), 5))
    assert {round(one, 5) for one in rows[:, 1].tolist()} <= effects


def test_with_couplings_that_never_change_the_estimate_is_nearly_exact(karate):
    clf = ncgnn.NCGNNClassifier(hops=2, num_capsules=2, iterations=1, epochs=15).fit(karate)
    found = audit(GraphExplainer(clf.scored(karate)).removal, range(10))
    assert found.neighbours.correlation is not None
    assert found.neighbours.correlation > 0.95
    assert found.neighbours.agreement > 0.99
    assert found.neighbours.slope == pytest.approx(1.0, abs=0.05)


def test_foresight_of_equal_changes_is_perfect():
    one = foresight([torch.tensor([[0.5, 0.5, 1.0], [0.1, 0.1, 1.0], [-0.2, -0.2, 0.0]])])
    assert one == Foresight(pytest.approx(1.0), pytest.approx(1.0), pytest.approx(1.0), 0.0, 3)
    hidden = foresight([torch.tensor([[0.5, 0.1, 1.0], [0.4, 0.1, 1.0], [0.0, 0.9, 0.0]])])
    assert hidden.hidden == 1.0
    assert foresight([torch.zeros(0, 3)]) is None


def test_the_interval_of_an_agreement_holds_it_and_narrows_with_more_nodes():
    draw = torch.Generator().manual_seed(0)

    def noisy(nodes: int) -> Foresight:
        true = torch.randn(nodes, 10, 1, dtype=torch.float64, generator=draw)
        foreseen = true + torch.randn(true.shape, dtype=torch.float64, generator=draw)
        found = foresight(list(torch.cat([foreseen, true, torch.ones_like(true)], dim=2)))
        assert found is not None
        return found

    few, many = noisy(10), noisy(200)
    assert few.interval is not None
    assert many.interval is not None
    assert few.interval[0] < few.agreement < few.interval[1]
    assert many.interval[0] < many.agreement < many.interval[1]
    assert many.interval[1] - many.interval[0] < (few.interval[1] - few.interval[0]) / 2
    assert many.interval[0] < 0.5**0.5 < many.interval[1]  # what equal parts of signal and noise give
    assert ("agreement, features, lower bound", few.interval[0]) in list(Audit(10, None, few, None, 0.1, 0.0).rows())


@pytest.mark.parametrize("column", [0, 1], ids=["predicted", "true"])
def test_equal_changes_have_no_rank_correlation(column):
    changes = torch.tensor([[0.5, 0.4, 1.0], [0.1, 0.2, 1.0], [-0.2, 0.3, 0.0]])
    changes[:, column] = 0.3
    one = foresight([changes])
    assert one.correlation is None
    assert one.agreement > 0
    assert ("rank correlation, features", None) in list(Audit(1, None, one, None, 0.1, 0.0).rows())


def test_seeds_are_compared_where_there_are_two(club, karate, explainer):
    again = audit(explainer.removal, range(6), explainer.removal)
    assert again.seeds == 1.0
    assert ("agreement between seeds", 1.0) in list(again.rows())


def test_sizes_that_are_off_are_said():
    right = Foresight(0.95, 0.95, 3.0, 0.0, 100)
    said = Audit(20, right, None, None, 0.1, 0.0).verdict
    assert said == "Trust which reasons are named and their order; their sizes are off."
    nothing = Audit(20, None, None, None, 0.0, 0.0)
    assert not nothing.is_trusted
    assert nothing.short.startswith("There is nothing to audit")


def test_fewer_nodes_are_audited_of_a_large_graph():
    assert affordable(500) == 30
    assert affordable(1_000_000) == 3
