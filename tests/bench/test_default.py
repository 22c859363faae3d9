from pathlib import Path

import pytest
from benchmarks import default, table

from ncgnn.data import load_dataset, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.models import PreparedGraph, find_model

PROPAGATION = find_model("label-propagation")


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(default, "RESULTS", tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


@pytest.fixture
def measured(monkeypatch) -> list[tuple]:
    """What is measured from now on."""
    found, measure = [], default.measure

    def noted(*order):
        found.append(order)
        return measure(*order)

    monkeypatch.setattr(default, "measure", noted)
    return found


def test_a_row_is_measured_once(results, measured):
    arguments = ["--graphs", "karate", "--models", "label-propagation", "--splits", "0", "1"]
    default.main(arguments)
    default.main(arguments)
    assert measured == [("karate", 0, "label-propagation"), ("karate", 1, "label-propagation")]
    rows = table.read(results)
    assert [(row["graph"], row["split"], row["model"]) for row in rows] == measured
    assert {"tried", "config", "val_accuracy", "test_accuracy", "cpu_seconds", "cpu", "commit"} <= set(rows[0])


def test_a_row_is_measured_again_once_the_candidates_are_others(results, measured, monkeypatch):
    arguments = ["--graphs", "karate", "--models", "label-propagation", "--splits", "0"]
    default.main(arguments)
    few = PROPAGATION.candidates()[:1]
    monkeypatch.setattr(type(PROPAGATION), "candidates", lambda self: few)
    default.main(arguments)
    assert len(measured) == 2
    assert [str(row["config"]) for row in table.read(results)] == [few[0].hash]


def test_the_best_on_validation_nodes_is_chosen_and_tested(karate):
    row = default.measure("karate", 0, "label-propagation")
    graph, fits = PreparedGraph.of(karate), {}
    for settings in PROPAGATION.candidates():
        inputs = PROPAGATION.prepare(graph, settings)
        fitted = PROPAGATION.fit(inputs, graph.data, settings)
        right = PROPAGATION.scores(fitted.module, inputs)[0].argmax(dim=1) == karate.y
        fits[settings.hash] = [right[mask].float().mean().item() for mask in (karate.val_mask, karate.test_mask)]
    assert row["val_accuracy"] == pytest.approx(max(val for val, _ in fits.values()), abs=1e-6)
    assert [row["val_accuracy"], row["test_accuracy"]] == pytest.approx(fits[row["config"]], abs=1e-6)


def test_no_test_label_is_seen_before_the_choice(monkeypatch):
    seen = []

    def choose(graph, settings):
        seen.append(graph.data)
        return default.best_of(PROPAGATION, graph, settings)

    monkeypatch.setitem(default.CONTESTANTS, "spy", default.Contestant(lambda graph: PROPAGATION.candidates(), choose))
    default.measure("karate", 2, "spy")
    expected = hide_test_labels(usual_split(load_dataset("karate"), 2))
    assert seen[0].y.tolist() == expected.y.tolist()
    assert (seen[0].y == -1).any()


def test_a_model_with_a_preset_tries_it_first():
    gcn = find_model("gcn")
    assert default.settings_to_try(gcn, "cora") == [gcn.preset("cora"), *gcn.candidates()]
    assert default.settings_to_try(gcn, "karate") == gcn.candidates()


def test_small_graphs_come_first_and_a_split_of_all_before_the_next():
    assert len(set(default.GRAPHS)) == 23
    found = list(default.orders(["texas", "cora"], ["gcn", "mlp"], [0, 1]))
    assert found[:5] == [(g, 0, m) for g in ("texas", "cora") for m in ("gcn", "mlp")] + [("texas", 1, "gcn")]
