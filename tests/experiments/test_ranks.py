from math import sqrt

import pandas as pd
import pytest

from helpers.stored_rows import row
from ncgnn.drawing import save
from ncgnn.experiments.contests import columns
from ncgnn.experiments.ranks import Ranking, can_be_drawn, draw_ranks, rank_table, rank_text, ranking
from ncgnn.experiments.valid_runs import counted

ACCURACY = pd.DataFrame(
    {"a": [90.0, 80, 70, 95], "b": [80.0, 80, 60, 90], "c": [70.0, 70, 50, 80]}, index=["one", "two", "three", "four"]
)


def test_mean_ranks_and_critical_difference_by_hand():
    """Demsar's table: q of three models at 5 % is 2.343."""
    found = Ranking(ACCURACY)
    assert found.ranks.to_dict() == pytest.approx({"a": (1 + 1.5 + 1 + 1) / 4, "b": (2 + 1.5 + 2 + 2) / 4, "c": 3})
    assert found.critical_difference == pytest.approx(2.343 * sqrt(3 * 4 / (6 * 4)), abs=2e-3)
    assert found.p < 0.05
    assert [line[0] for line in rank_table(found).rows] == ["a", "b", "c"]
    assert "over 4 graphs (one, two, three, four) of the 3 models" in rank_text(found)


def test_only_models_that_were_run_on_all_graphs_are_ranked():
    """The graph on which only two models were run is left out, and the model of a single graph too."""
    rows = []
    for number, graph in enumerate(("texas", "cora", "actor", "pubmed")):
        for model, accuracy in (("NCGNN-A", 0.8), ("GCN", 0.6), ("MLP", 0.5)):
            if (graph, model) != ("pubmed", "MLP"):
                rows.append(row(columns()[graph][model], 0, accuracy + number / 100))
    rows.append(row(columns()["texas"]["GAT"], 0, 0.9))
    rows += [row(columns()["syn-cora:0.5"][model], 0, 0.5) for model in ("NCGNN-A", "GCN", "MLP", "GAT")]
    found = ranking(counted(rows))
    assert sorted(found.accuracy.index) == ["actor", "cora", "texas"]
    assert found.ranks.to_dict() == {"NCGNN-A": 1, "GCN": 2, "MLP": 3}


def test_two_graphs_are_too_few_for_ranks():
    rows = [row(columns()[graph][model], 0, 0.5) for graph in ("texas", "cora") for model in ("NCGNN-A", "GCN", "MLP")]
    assert ranking(counted(rows)) is None


@pytest.mark.skipif(not can_be_drawn(), reason="scikit-posthocs is not installed: pip install '.[stats]'")
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
def test_the_diagram_names_the_models(tmp_path):
    figure = draw_ranks(Ranking(ACCURACY))
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(str(name) in texts for name in ACCURACY)
    save(figure, tmp_path / "ranks.png")
    assert (tmp_path / "ranks.png").stat().st_size > 1000
