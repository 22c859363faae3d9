import importlib.util

import numpy as np
import pytest
from benchmarks import joins, table
from benchmarks.page import NOTHING


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.setattr(joins, "NODES", 50)
    monkeypatch.setattr(joins, "EDGES", 400)
    return joins.write_tables(tmp_path)


@pytest.mark.parametrize("way", joins.WAYS)
def test_every_way_numbers_the_edges_in_their_order(tables, way):
    if way == "DuckDB" and importlib.util.find_spec("duckdb") is None:
        pytest.skip("install duckdb")
    expected = np.load(tables[1].with_name("pairs.npy"))
    assert expected.shape == (400, 2)
    assert np.array_equal(joins.WAYS[way](*tables), expected)
    row = joins.measure(way, *tables)
    assert row["way"] == way
    assert row["seconds"] >= 0


def test_the_turn_with_the_least_time_counts():
    assert joins.best([{"cpu_seconds": 2.0}, {"cpu_seconds": 1.5}, {"cpu_seconds": 3.0}]) == {"cpu_seconds": 1.5}


def test_the_page_says_where_nothing_was_measured():
    page = "<!-- joins -->\n\nold\n\n<!-- end joins -->\n"
    assert NOTHING in joins.render(page, [])


def test_the_page_is_the_one_that_the_results_give():
    page = joins.PAGE.read_text("utf-8")
    assert joins.render(page, table.read(joins.RESULTS)) == page, "run: python -m benchmarks.joins"
