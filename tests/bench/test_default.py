from pathlib import Path

import pytest
from benchmarks import default, table
from benchmarks.page import NOTHING

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


def rows_of(graph: str, **accuracies: list[float]) -> list[dict]:
    """Rows of models, an accuracy for each split."""
    names = {name.replace("_", "-"): values for name, values in accuracies.items()}
    where = dict.fromkeys(("date", "cpu", "cores", "threads", "python", "torch", "torch_geometric", "numba"), "x")
    return [
        {"graph": graph, "split": split, "model": name, "test_accuracy": value, "cpu_seconds": 2.0, "load": 0.0}
        | where
        | {"commit": "x"}
        for name, values in names.items()
        for split, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ([0.8, 0.8, 0.8], "ahead"),
        ([0.7, 0.7, 0.7], "level"),
        ([0.696, 0.696, 0.696], "level"),  # within half a point
        ([0.694, 0.694, 0.694], "behind"),
        ([0.5, 0.7, 0.8], "level"),  # inside the interval
        ([0.5], ""),
    ],
)
def test_level_is_within_half_a_point_or_inside_the_interval(ours, verdict):
    found = default.Compared.of(rows_of("texas", ncgnn=ours, mlp=[0.7] * 3, gcn=[0.1] * 3))
    assert found.verdict == verdict


def test_a_model_without_one_of_our_splits_is_left_out_and_named():
    rows = rows_of("texas", ncgnn=[0.7, 0.7], mlp=[0.7, 0.7], gat=[0.9], gcn_searched=[0.9, 0.9])
    assert default.Compared.of(rows).gaps == [0, 0]  # neither GAT nor the control is the best other model
    assert "GAT (1 graph)" in default.render(rows, ["texas"])


def test_graphs_are_counted_by_verdict_and_by_two_points():
    rows = [
        *rows_of("texas", ncgnn=[0.6, 0.8, 0.6], mlp=[0.7, 0.7, 0.7]),  # 3.3 points behind, inside the interval
        *rows_of("cornell", ncgnn=[0.6, 0.6, 0.6], mlp=[0.7, 0.7, 0.7]),
        *rows_of("wisconsin", ncgnn=[0.69, 0.69, 0.69], mlp=[0.7, 0.7, 0.7]),
        *rows_of("cora", ncgnn=[0.8, 0.8, 0.8], mlp=[0.7, 0.7, 0.7]),
        *rows_of("actor", ncgnn=[0.1], mlp=[0.7]),
    ]
    text = default.render(rows, default.GRAPHS)
    assert "Of 4 graphs with at least two splits" in text
    assert "on 2 (1 ahead, 1 level) and behind on 2" in text
    assert "by more than two points on 1 (cornell); the difference is as large" in text
    assert "interval, on 1 (texas)." in text
    assert "Without split 0: Of 4 graphs" in text


def test_what_a_search_chose_is_counted_by_settings_and_graph(monkeypatch):
    monkeypatch.setattr(default, "DIRECTED", "karate")
    how = ["default, taught by beliefs", "averaged weights, PageRank, taught by default and GCN", "default"]
    own = rows_of("texas", ncgnn=[0.5, 0.6, 0.7]) + rows_of("cora", ncgnn=[0.8])
    rows = [row | {"how": said} for row, said in zip(own, [*how, how[1]], strict=True)]
    text = default.winners([*rows, *rows_of("cora", mlp=[0.9])])
    assert "| default | texas (2) |" in text
    assert "| averaged weights, PageRank | texas (1), cora (1) |" in text
    assert "| beliefs | - |" in text
    assert "A student was chosen in 3 of 4 searches." in text
    assert default.winners(rows_of("cora", mlp=[0.9])) == NOTHING
