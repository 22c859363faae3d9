"""Columns of numbers converted many at once, against the rules for a single column."""

import numpy as np
import pandas as pd
import pytest

from ncgnn.data import read_graph
from ncgnn.data.tables.columns.guess import guess_kind
from ncgnn.data.tables.columns.plain import plain_numbers
from ncgnn.data.tables.columns.values import checked_numbers

PLAIN = {
    "whole": ["1", "2", "3"],
    "spaced": [" 1.5", "2e3 ", "-7"],
    "gaps": ["4", "", "NaN"],
    "flag": ["0", "1", "0"],
    "first_blank": ["", "5", "6"],
}
OTHERS = {
    "words": ["a", "b", "c"],
    "mixed": ["1", "b", "3"],
    "postcode": ["01234", "01235", "99999"],
    "endless": ["1", "inf", "3"],
    "large": ["1", "1e31", "3"],
    "blank": ["", "", ""],
    "truth": ["true", "false", "true"],
    "comma": ["1,5", "2,5", "3"],
}


def test_plain_columns_are_found_with_the_numbers_that_each_alone_gives():
    table = pd.DataFrame({**PLAIN, **OTHERS}, dtype="str")
    found = plain_numbers(table, table.columns)
    assert set(found) == set(PLAIN)
    for name, numbers in found.items():
        np.testing.assert_array_equal(numbers, checked_numbers(table[name], "table"))
        assert guess_kind(table[name], "table") == "numeric"


@pytest.mark.parametrize("values", [[1, 2, 3], [1.5, np.nan, 2], [True, False, True]])
def test_columns_of_numbers_are_plain(values):
    table = pd.DataFrame({"x": values})
    found = plain_numbers(table, ["x"])
    np.testing.assert_array_equal(found["x"], checked_numbers(table["x"], "table"))


@pytest.mark.parametrize("values", [[1, np.inf], [np.nan, np.nan], [1, 1e31], [1j, 2]])
def test_numbers_that_are_no_features_are_left_to_the_rules(values):
    assert plain_numbers(pd.DataFrame({"x": values}), ["x"]) == {}


def test_only_named_columns_are_looked_at():
    assert set(plain_numbers(pd.DataFrame(PLAIN, dtype="str"), ["whole"])) == {"whole"}


def cpu_seconds() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


@pytest.mark.long
def test_twenty_thousand_columns_are_read_in_ten_seconds(tmp_path):
    drawn = np.random.default_rng(0)
    table = pd.DataFrame(drawn.normal(size=(60, 20_000))).add_prefix("c")
    table.insert(0, "id", [f"n{i}" for i in range(60)])
    table.to_csv(tmp_path / "nodes.csv", index=False)
    (tmp_path / "edges.csv").write_text("source,target\nn0,n1\n")
    start = cpu_seconds()
    assert read_graph(tmp_path / "nodes.csv", tmp_path / "edges.csv").x.shape == (60, 20_000)
    assert cpu_seconds() - start < 10
