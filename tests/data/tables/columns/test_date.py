import datetime

import numpy as np
import pandas as pd
import pytest

from ncgnn.data.tables.columns.date import as_days, checked_days
from ncgnn.errors import InputError


@pytest.mark.parametrize(
    "values",
    [
        ["1970-01-03", None],
        ["03.01.1970", ""],
        ["3.1.1970", None],
        ["1970-01-03T00:00:00Z", ""],
        ["1970-01-03 01:00+01:00", "NaN"],
        [datetime.date(1970, 1, 3), None],
        pd.to_datetime(["1970-01-03", None]),
        pd.to_datetime(["1970-01-03", None]).tz_localize("UTC"),
    ],
)
def test_however_a_date_is_written_its_day_is_the_same(values):
    assert as_days(pd.Series(values)).tolist() == pytest.approx([2, np.nan], nan_ok=True)


@pytest.mark.parametrize(("text", "days"), [("0001-01-01", -719162), ("9999-12-31", 2932896), ("1969-12-31", -1)])
def test_dates_far_away_are_days_too(text, days):
    assert as_days(pd.Series([text])).tolist() == [days]


@pytest.mark.parametrize("value", ["31.13.2024", "12/31/2024", "2024-02-30", "soon", "99999-01-01"])
def test_what_is_no_date_is_named(value):
    with pytest.raises(InputError, match=r"n.csv, column 'd', row 2: .* is not a date; write dates like 2024-12-31"):
        checked_days(pd.Series(["2024-01-01", value], name="d"), "n.csv")
