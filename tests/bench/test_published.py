"""The accuracy check of the rivals, on a figure for a graph that every installation has."""

from statistics import fmean

import pytest
from benchmarks import published, table
from benchmarks.published import Figure

from ncgnn.experiments.cells import GCN, MLP, RIVALS
from ncgnn.experiments.recipes import LINES
from ncgnn.models import find_model

QUICK = Figure("sgc", "karate", published.RANDOM, 60.0, "nobody", grid=({"epochs": 1}, {"epochs": 30}))


def test_every_figure_has_settings_of_its_model():
    for figure in published.FIGURES:
        assert figure.protocol in published.RUNS
        for settings in figure.settings:
            assert isinstance(settings, find_model(figure.model).settings_class)
            assert 0 < figure.accuracy < 100


def test_every_rival_has_a_figure_unless_none_was_published_for_a_split_that_can_be_repeated():
    without = {"boosting", "neighbour-boosting", "correct-and-smooth", "linear-gnn"}
    rivals = {LINES[name].model for name in (GCN, MLP, *RIVALS)}
    assert rivals - {figure.model for figure in published.FIGURES} == without


def named(figure: Figure) -> str:
    return " ".join(filter(None, (figure.model, figure.variant, figure.graph)))


ROWS = table.read(published.RESULTS)
MEASURED = [figure for figure in published.FIGURES if published.best_on_validation(figure, ROWS)]
# docs/models.md says what may explain these
MISSED = {
    "mlp wisconsin",
    "fsgnn texas",
    "geom-gcn poincare texas",
    "scattering-gcn cora",
    "bbgdc cora",
    "ordered-gnn cornell",
}


@pytest.mark.parametrize("figure", MEASURED, ids=named)
def test_rivals_come_within_one_and_a_half_points_of_their_figure(figure):
    """Each figure names its graph, its protocol and its source; the runs are those of ``python -m
    benchmarks.published``."""
    reached = 100 * fmean(row["test_accuracy"] for row in published.best_on_validation(figure, ROWS))
    assert (reached < figure.accuracy - published.TOLERANCE) == (named(figure) in MISSED)


def test_the_page_is_the_one_that_the_results_give():
    page = published.PAGE.read_text("utf-8")
    assert published.render(page) == page, "run: python -m benchmarks.published --report"


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setattr(published, "RESULTS", tmp_path / "rows.csv")
    monkeypatch.setattr(published, "RUNS", {published.RANDOM: 2})
    return tmp_path / "rows.csv"


def test_what_is_stored_is_not_measured_again(stored, monkeypatch):
    published.run([QUICK])
    rows = table.read(stored)
    assert [(row["run"], row["epochs"]) for row in rows] == [(0, 1), (0, 30), (1, 1), (1, 30)]
    monkeypatch.setattr(published, "measure", lambda *_: pytest.fail("measured again"))
    published.run([QUICK])
    assert table.read(stored) == rows


def test_validation_accuracy_chooses_the_settings(stored):
    one, other = (settings.hash for settings in QUICK.settings)
    found = [(one, 0.5, 0.9), (one, 0.5, 0.9), (other, 0.6, 0.5), (other, 0.7, 0.6)]
    rows = [
        QUICK.name | {"run": number % 2, "config": config, "val_accuracy": val, "test_accuracy": test}
        for number, (config, val, test) in enumerate(found)
    ]
    table.write(stored, rows, {})
    assert "| SGC | karate | 60/20/20 | 55.00 | 7.07 | 2 | 60.00 | -5.00 | missed | nobody |" in published.summary(
        [QUICK]
    )
    table.write(stored, rows[:3], {})
    assert "sgc" not in published.summary([QUICK])
