"""The audit of graphs: known reasons, paired intervals, and the tables of docs/explanations.md."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks import audited_page, audits, table, what_if
from benchmarks.motifs import MOTIFS, truth, with_motifs
from torch_geometric import seed_everything
from torch_geometric.explain import characterization_score

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, usual_split
from ncgnn.explain import GraphExplainer
from ncgnn.explain.quality import OURS, SPARSITIES

ROOT = Path(__file__).parents[2]


def test_the_page_says_what_the_results_say():
    page = (ROOT / "docs/explanations.md").read_text("utf-8")
    assert audited_page.render(page, audits.RESULTS) == page, "run: python -m benchmarks.audits --page"
    assert what_if.render(page) == page, "run: python -m benchmarks.what_if --page"


def test_every_counterfactual_is_confirmed():
    found = [row for row in table.read(what_if.PATH) if row["size"]]
    assert {row["graph"] for row in found} >= {"cora", "chameleon", "shop"}
    assert all(str(row["confirmed"]) == "True" for row in found)


@pytest.mark.parametrize("graph", ["cora", "chameleon", "shop"])
def test_counterfactuals_are_smaller_than_removals_in_the_order_of_a_mask(graph):
    rows = [row for row in table.read(what_if.PATH) if row["graph"] == graph and row["size"]]
    ours, theirs = (
        {row["node"]: row["size"] for row in rows if row["method"] == method}
        for method in ("neighbours", what_if.BY_MASK)
    )
    both = ours.keys() & theirs.keys()
    assert both
    assert sum(ours[node] for node in both) < sum(theirs[node] for node in both)


def test_each_method_finds_removals_that_change_the_class():
    data = with_motifs("cycle")
    explainer = GraphExplainer(NCGNNClassifier(hops=2, epochs=5).fit_scored(data))
    subject = explainer.removal.subject
    lead = subject.probabilities.topk(2).values
    doubtful = (lead[:, 0] - lead[:, 1]).argsort()[:5].tolist()
    for measure in (what_if.by_mask, what_if.by_descent, partial(what_if.ours, kind="neighbours")):
        rows = [measure(explainer, node) for node in doubtful]
        assert any(row["size"] for row in rows)
        assert all((row["confirmed"] == "True") == bool(row["size"]) for row in rows)


@pytest.mark.parametrize("name", ["house", "cycle"])
def test_graphs_with_motifs_are_the_same_in_every_run(name):
    found = []
    for seed in (1, 2):
        seed_everything(seed)
        found.append(with_motifs(name))
    first, again = found
    assert torch.equal(first.edge_index, again.edge_index)
    assert torch.equal(first.motif, again.motif)


@pytest.mark.parametrize(("name", "size"), [("house", 5), ("cycle", 6)])
def test_the_reason_for_a_node_is_the_rest_of_its_motif(name, size):
    assert set(MOTIFS) == {"house", "cycle"}
    data = with_motifs(name)
    _, sizes = data.motif[data.motif >= 0].unique(return_counts=True)
    assert set(sizes.tolist()) == {size}
    subject = GraphExplainer(NCGNNClassifier(hops=3, epochs=2).fit_scored(data)).removal.subject
    told = {node: found for node in range(data.num_nodes) if (found := truth(subject, data, node)) is not None}
    assert told
    for node, (heard, reasons) in told.items():
        assert data.motif[node] >= 0
        assert node not in heard
        assert int(reasons.sum()) == size - 1, "three steps reach all of a motif"


def effects(plus: list[list[int]], minus: list[list[int]]) -> list[table.Row]:
    named = {"fidelity+": plus, "fidelity-": minus}
    return [
        {f"{name} {s}": changes[node][i] for name, changes in named.items() for i, s in enumerate(SPARSITIES)}
        for node in range(len(plus))
    ]


def test_characterisation_is_that_of_pyg():
    draw = np.random.default_rng(0)
    plus, minus = draw.integers(2, size=(2, 8, len(SPARSITIES))).tolist()
    found = audited_page.characterisation(audited_page._effects(effects(plus, minus)))
    means = (torch.tensor(side, dtype=torch.float).mean(dim=0) for side in (plus, minus))
    assert float(found) == pytest.approx(float(characterization_score(*means).mean()))


def rows(method: str, plus: int, nodes: int = 30, seconds: float = 0.1) -> list[table.Row]:
    same = effects([[plus] * len(SPARSITIES)] * nodes, [[0] * len(SPARSITIES)] * nodes)
    return [{"method": method, "node": node, "seconds": seconds, "AUC": ""} | one for node, one in enumerate(same)]


def test_a_method_is_ahead_tied_or_behind_by_its_interval(stamp):
    found = [*rows(OURS, 1), *rows("poor", 0), *rows("equal", 1, seconds=20.0), *rows("half", 1, 10)]
    text = audited_page.compared({"cora": [stamp | row for row in found]})
    assert "| cora | 1 | 2 | - | half, 1 times as long |" in text
    assert "| poor | 30 | 0.000 | +1.000 [+1.000, +1.000] |" in text
    assert "| equal | 30 | 1.000 | +0.000 [+0.000, +0.000] | 20 | 200 |" in text
    worse = [*rows(OURS, 0), *rows("better", 1)]
    assert "| cora | 0 | 0 | better | better, 1 times as long |" in audited_page.compared(
        {"cora": [stamp | row for row in worse]}
    )


def test_nothing_is_measured_twice(tmp_path, monkeypatch, stamp):
    monkeypatch.setattr(audits, "RESULTS", tmp_path)
    monkeypatch.setattr(audits, "graph_of", lambda name: usual_split(load_dataset("karate")))
    monkeypatch.setattr(audits, "settings", lambda name: {"hops": 2, "num_capsules": 2, "epochs": 5})
    methods = ["contributions in turn", "filter weights"]
    audits._measure("karate", 12, methods, stamp)
    first = (tmp_path / "nodes-karate.csv").read_text()
    assert len(first.splitlines()) == 1 + 2 * 12
    audits._measure("karate", 12, methods, stamp)
    assert (tmp_path / "nodes-karate.csv").read_text() == first
    audits._measure("karate", 14, methods, stamp)
    assert len((tmp_path / "nodes-karate.csv").read_text().splitlines()) == 1 + 2 * 14
    measured = {row["measure"] for row in table.read(tmp_path / "models.csv")}
    assert {"verdict", "agreement between seeds", "self-consistency"} <= measured
