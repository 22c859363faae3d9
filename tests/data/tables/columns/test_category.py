import pandas as pd

from ncgnn.data.tables.columns.category import learn_categories, one_hot


def test_of_very_many_categories_the_most_frequent_stay():
    values = [f"c{i:04}" for i in range(1500)] + ["c1499", "c1400"]
    spec = learn_categories(pd.Series(values, name="c"))
    assert len(spec.categories) == 1000
    assert set(spec.categories) == {f"c{i:04}" for i in range(998)} | {"c1499", "c1400"}


def test_the_categories_do_not_hang_on_the_order_of_the_rows():
    values = pd.Series([f"c{i:04}" for i in range(1500)], name="c")
    assert learn_categories(values) == learn_categories(values[::-1])


def test_each_row_has_one_category_or_none():
    column = pd.Series(["b", "", "a", "new", "null"], name="c")
    x, unknown, blank = one_hot(column, learn_categories(pd.Series(["a", "b"], name="c")))
    assert x.toarray().tolist() == [[0, 1], [0, 0], [1, 0], [0, 0], [0, 0]]
    assert (unknown.tolist(), blank) == (["new"], 2)
