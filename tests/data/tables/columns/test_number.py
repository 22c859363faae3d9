import numpy as np
import pandas as pd
import pytest

from ncgnn.data import read_graph
from ncgnn.data.tables.columns.number import describe_numbers, learn_numbers, raw_numbers, scale_numbers

EDGES = pd.DataFrame({"source": [0], "target": [1]})


def test_a_missing_number_is_the_mean_of_the_others():
    column = pd.Series(["1", "", "3", "NaN", "null"], name="age")
    spec = learn_numbers(column, "numeric", "n.csv")
    assert (spec.mean, spec.scale) == (2, 1)
    values = raw_numbers(column, "numeric", "n.csv")
    assert scale_numbers(values, spec, "n.csv").tolist() == [-1, 0, 1, 0, 0]
    assert describe_numbers(values, "numeric") == "1 to 3, 3 missing"


@pytest.mark.parametrize("values", [[True, None, False], ["true", "", "false"], [1.0, np.nan, 0.0]])
def test_a_missing_flag_is_0(values):
    data = read_graph(pd.DataFrame({"id": range(3), "f": values}), EDGES)
    assert data.x.to_dense().flatten().tolist() == [1, 0, 0]
    assert data.numbers.shape == (3, 0)


def test_numbers_are_kept_as_they_were_for_those_who_scale_anew():
    data = read_graph(pd.DataFrame({"id": range(3), "flag": [0, 1, 1], "a": [1e15 + 1, 1e15, np.nan]}), EDGES)
    assert data.numbers[:2, 0].tolist() == [1e15 + 1, 1e15]
    assert data.numbers[2, 0].isnan()


def test_dates_are_days():
    column = pd.Series(["1970-01-02", "", "1970-01-04 12:00"], name="d")
    assert raw_numbers(column, "date", "n.csv").tolist() == pytest.approx([1, np.nan, 3.5], nan_ok=True)
    assert describe_numbers(raw_numbers(column, "date", "n.csv"), "date") == "1970-01-02 to 1970-01-04, 1 missing"
