"""What a search costs, as it was measured."""

from benchmarks import budget, table
from benchmarks.page import fill


def test_the_page_is_the_one_that_the_results_give():
    page = budget.PAGE.read_text("utf-8")
    shown = fill(page, "budget", budget.render(table.read(budget.RESULTS)))
    assert shown == page, "run: python -m benchmarks.budget --report"


def test_a_quick_search_took_at_most_ten_trainings_with_the_default_settings():
    rows = table.read(budget.RESULTS)
    assert {row["graph"] for row in rows} == set(budget.GRAPHS)
    for row in rows:
        assert 1 < row["ratio"] <= row["ratio_with_rivals"] <= 10, row["graph"]
