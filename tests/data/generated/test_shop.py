"""The example tables are such that what the guide says of them holds."""

import pandas as pd
import pytest

from ncgnn.check import check_graph
from ncgnn.data import read_graph, usual_split
from ncgnn.data.generated.shop import shop_tables

NODES, EDGES = "products.csv", "bought-together.csv"
LATER_NODES, LATER_EDGES = "june-products.csv", "june-bought-together.csv"


@pytest.fixture(scope="module")
def tables():
    return shop_tables()


def test_they_are_always_the_same(tables):
    for name, table in shop_tables().items():
        pd.testing.assert_frame_equal(table, tables[name])


def test_a_month_later_everything_is_still_there_and_new_products_have_no_department(tables):
    old, later = tables[NODES], tables[LATER_NODES]
    pd.testing.assert_frame_equal(later[: len(old)], old)
    new = later[len(old) :]
    assert len(new) == 40
    assert (new["department"] == "").all()
    assert set(map(tuple, tables[EDGES].to_numpy())) < set(map(tuple, tables[LATER_EDGES].to_numpy()))
    ends = tables[LATER_EDGES][["product", "other"]].to_numpy()
    assert set(new["product"]) <= set(ends.flatten())


def test_only_the_shelf_gives_the_department_away(tables):
    def serious(**options) -> list[str]:
        data = usual_split(read_graph(tables[NODES], tables[EDGES], label="department", weight="orders", **options))
        return [finding.what for finding in check_graph(data).findings if finding.level == "serious"]

    assert serious() == ["5 features each predict a class on their own, e.g. 'shelf=G' predicts 'garden'"]
    assert serious(ignore=["shelf"]) == []


def test_columns_are_taken_for_what_they_are(tables):
    data = read_graph(tables[NODES], tables[EDGES], label="department", weight="orders")
    roles = {role.column: role.role for role in data.roles}
    assert [roles[name] for name in ("title", "brand", "price", "listed")] == ["text", "categorical", "numeric", "date"]
    assert (data.edge_index[0] != data.edge_index[1]).all()
