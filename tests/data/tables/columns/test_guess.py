import pandas as pd
import pytest

from ncgnn.data.tables.columns.guess import guess_kind
from ncgnn.errors import InputError

TITLES = [f"deep learning of {word} graphs" for word in "abcdefghijklmnopqrstuvwxyz"]


def kind(values, **options):
    return guess_kind(pd.Series(values, name="c", **options), "n.csv")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3], "numeric"),
        ([True, False], "numeric"),
        (["1", "2.5", "", "-1e3", "NaN"], "numeric"),
        (["true", "False", ""], "numeric"),
        (["2020-01-02", "", "2021-12-31"], "date"),
        (["2020-01-02 10:00", "2021-12-31T23:59:59Z"], "date"),
        (["28.11.2019", "1.2.2020"], "date"),
        (["28.11.19.3", "1.2.20.4"], "categorical"),
        (pd.to_datetime(["2020-01-02", None]), "date"),
        (["2020", "2021"], "numeric"),
        (["KDD", "ICML", "KDD"], "categorical"),
        (["deep learning on graphs", "vision and language", "deep learning on graphs", "vision and language"] * 3,
         "categorical"),
        (TITLES, "text"),
        (TITLES[:4], "text"),
        (["глубокое обучение на графах", "графы и слова", "ещё одна статья"], "text"),
        ([f"K-{i}" for i in range(30)], None),
        ([f"+49 170 {i} 22" for i in range(30)], None),
        ([f"https://example.org/a-long-path/{i}" for i in range(30)], None),
        ([f"K-{i}" for i in range(15)], "categorical"),
        ([f"zip {i // 3}" for i in range(90)], "categorical"),
        (["", ""], "categorical"),
    ],
)  # fmt: skip
def test_the_kind_of_a_column_shows_in_its_values(values, expected):
    assert kind(values) == expected


def test_a_slip_among_numbers_is_named():
    with pytest.raises(
        InputError, match=r"n.csv, column 'c', row 12: 'O' is not a finite number; correct it, leave it"
    ):
        kind([str(i) for i in range(11)] + ["O"])


@pytest.mark.parametrize("values", [["3,5", "4,25"], ["3,5", "", "4"]])
def test_a_decimal_comma_is_named(values):
    with pytest.raises(InputError, match=r"n.csv, column 'c', row 1: '3,5' has a comma; write numbers like 3.5"):
        kind(values)


def test_numbers_with_leading_zeros_are_codes():
    assert kind(["01035", "20457", "01035", ""]) == "categorical"
    assert kind(["0", "0.5", "10"]) == "numeric"
    assert kind([*map(str, range(10, 99)), "05", "100"]) == "numeric"
    assert kind([f"{i:06d}" for i in range(100)]) == "numeric"
