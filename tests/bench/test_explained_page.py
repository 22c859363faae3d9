"""docs/explanations.md says what the files in results/explanations say."""

from pathlib import Path

import pytest
from benchmarks import explained, explained_page, table
from benchmarks.explanations import GRAPHS, NODES, PARTS

from ncgnn.classifier import NCGNNClassifier

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanations.md").read_text("utf-8")


def test_the_page_is_the_one_that_the_results_give():
    found = explained_page.render(PAGE, ROOT / "results/explanations")
    assert found == PAGE, "run: python -m benchmarks.explanations --parts"


def test_every_file_of_results_names_its_part_graph_and_machine(stamp):
    for file in (ROOT / "results/explanations").glob("*.csv"):
        part, _, graph = file.stem.partition("-")
        assert part in PARTS
        assert graph in GRAPHS.get(part, NODES)
        assert all(set(stamp) <= set(row) for row in table.read(file))


def test_a_page_without_a_place_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no place for 'quality'"):
        explained_page.render("# Explanations", tmp_path)


def measure(method: str, name: str, value: float) -> table.Row:
    return {"graph": "texas", "method": method, "measure": name, "sparsity": "", "value": value, "nodes": 5, "beta": 1}


def test_methods_stand_in_the_order_of_their_characterisation(tmp_path, stamp):
    rows = [measure("random", "characterisation", 0.2), measure("contributions", "characterisation", 0.9)]
    table.write(tmp_path / "quality-texas.csv", [*rows, measure("random", "seconds a node", 0.01234)], stamp)
    text = explained_page.quality(tmp_path)
    assert "**texas**, 5 test nodes, beta 1" in text
    assert text.index("| contributions | 0.900 |") < text.index("| random | 0.200 |")
    assert "0.0123 |" in text


def test_times_are_compared(tmp_path, stamp):
    tasks = {"forward pass": (0.5, 10), "contributions, all nodes": (2.0, 10), "GNNExplainer": (8.0, 2)}
    rows = [
        {"graph": "x", "task": task, "seconds": s, "nodes": n, "seconds_a_node": s / n}
        for task, (s, n) in tasks.items()
    ]
    table.write(tmp_path / "times-x.csv", rows, stamp)
    assert "Explaining all nodes takes as long as 4.0 forward passes." in explained_page.times(tmp_path)
    assert "For one node, GNNExplainer takes 20 times as long as contributions." in explained_page.times(tmp_path)


@pytest.fixture
def club(karate) -> NCGNNClassifier:
    return NCGNNClassifier(hops=2, num_capsules=2, primary_channels=8, class_channels=4, epochs=3).fit(karate)


def test_a_wrong_prediction_is_told_with_the_right_class(tmp_path, stamp, karate, club):
    rows = list(explained.words(karate, club))
    assert [row["chosen"] for row in rows if row["kind"] == "hop"][::2] == ["surest", "least sure", "wrong"]
    table.write(tmp_path / "words-karate.csv", rows, stamp)
    wrong = next(row for row in rows if row["chosen"] == "wrong")
    text = explained_page.words(tmp_path)
    assert f"predicted *{wrong['predicted']}*, which is wrong: its label is *{wrong['label']}*" in text


def test_an_answer_is_told_with_what_would_change_it(tmp_path, stamp, karate, club):
    (row,) = explained.answers(karate, club)
    table.write(tmp_path / "answers-karate.csv", [row], stamp)
    first, *_ = explained_page.answers(tmp_path).splitlines()
    assert first == f"- {row['node']} of *karate*: {row['sentence']} {row['change']}"
    assert first.count("It would be ") + first.count("It would stay ") == 2


def test_how_much_routing_selects_is_told_for_each_setting(monkeypatch, karate, club):
    monkeypatch.setattr(explained, "BETAS", (1, 5))
    rows = list(explained.routing(lambda split, **changes: (karate, club), lambda text: None))
    assert [(row["iterations"], row["beta"]) for row in rows] == [(3, 1), (3, 5), (4, 1), (4, 5)]
    assert all(0 < row["entropy"] <= 1 for row in rows)


def test_times_are_those_of_one_run(monkeypatch, karate, club):
    monkeypatch.setattr(explained, "REPEATS", 1)
    rows = list(explained.times(karate, club, lambda text: None))
    assert [row["nodes"] for row in rows] == [34, 34, 2, 1]
    assert rows[1]["seconds_a_node"] < rows[2]["seconds_a_node"]
