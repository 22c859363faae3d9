import csv
from unittest.mock import patch

import pandas as pd
import pytest

from helpers.group_models import grouped_classifier, linked_graph
from ncgnn.errors import InputError
from ncgnn.explain import GraphExplainer, table, write_table


@pytest.fixture
def explainer(club, karate) -> GraphExplainer:
    return GraphExplainer(club.scored(karate))


def test_parquet_and_csv_hold_the_same_rows(explainer, tmp_path):
    with patch.object(table, "_BATCH", 10):
        write_table(tmp_path / "all.parquet", explainer.explain(features=True, top=3))
    write_table(tmp_path / "all.csv", explainer.explain(features=True, top=3))
    stored = pd.read_parquet(tmp_path / "all.parquet")
    assert tuple(stored.columns) == table.COLUMNS
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert stored.astype(str).to_dict("records") == rows
    assert stored["id"].nunique() == 34


def test_parts_of_a_node_add_up_in_the_table(explainer, tmp_path, club, karate):
    write_table(tmp_path / "all.parquet", explainer.explain(top=3))
    stored = pd.read_parquet(tmp_path / "all.parquet")
    wide = stored.pivot_table("contribution", "id", "kind", "sum").loc[list(explainer.names.nodes)]
    for way in (["hop"], ["itself", "neighbour", "rest"], ["capsule"]):
        total = wide[way].sum(axis=1) + wide["bias"]
        assert total.to_numpy() == pytest.approx(explainer.trace.lengths.amax(dim=1).numpy(), abs=1e-5)
    assert stored.groupby("id", sort=False)["class"].first().tolist() == club.predict(karate).astype(str).tolist()


def test_a_failure_leaves_the_old_file(explainer, tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("old")

    def failing():
        yield next(explainer.explain())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_table(path, failing())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"written as \.csv or \.parquet files"):
        write_table(tmp_path / "all.xlsx", [])


def test_groups_of_a_node_add_up_in_the_table(tmp_path):
    data = linked_graph()
    explainer = GraphExplainer(grouped_classifier(data, "all", epochs=3).scored(data))
    write_table(tmp_path / "all.csv", explainer.explain(top=3))
    stored = pd.read_csv(tmp_path / "all.csv", dtype={"id": str})
    wide = stored.pivot_table("contribution", "id", "kind", "sum").loc[list(explainer.names.nodes)]
    total = wide["group"] + wide["bias"]
    assert total.to_numpy() == pytest.approx(explainer.trace.lengths.amax(dim=1).numpy(), abs=1e-5)
    names = set(stored[stored["kind"] == "group"]["name"])
    assert names == {"features", "links (in)", "features (out)", "beliefs"}
