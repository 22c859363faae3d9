import numpy as np
import pandas as pd
import pytest

from ncgnn.data import read_graph, role_lines
from ncgnn.errors import InputError

EDGES = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
VECTORS = np.random.default_rng(0).normal(size=(5, 6)).round(3)
NAMES = [f"emb_{i}" for i in range(6)]


def table(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"id": range(5), **columns})


def as_text() -> list[str]:
    return [str(row) for row in VECTORS.tolist()]


@pytest.fixture
def expected():
    return read_graph(table(**dict(zip(NAMES, VECTORS.T, strict=True))), EDGES)


@pytest.mark.parametrize("values", [VECTORS.tolist(), list(VECTORS), as_text()], ids=["lists", "arrays", "text"])
def test_a_column_of_vectors_is_a_column_for_each_number(expected, values):
    data = read_graph(table(emb=values), EDGES)
    assert data.feature_names == NAMES
    assert (data.x == expected.x).all()
    assert "  emb_0 ... emb_5  vector  6 numbers" in role_lines(data.roles)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_vectors_are_read_from_files(tmp_path, expected, suffix):
    EDGES.to_csv(tmp_path / "e.csv", index=False)
    if suffix == "parquet":
        table(emb=list(VECTORS)).to_parquet(tmp_path / "n.parquet")
    elif suffix == "csv":
        table(emb=as_text()).to_csv(tmp_path / "n.csv", index=False)
    else:
        table().to_csv(tmp_path / "n.csv", index=False)
        np.save(tmp_path / "n.npy", VECTORS)
    data = read_graph(tmp_path / ("n.parquet" if suffix == "parquet" else "n.csv"), tmp_path / "e.csv")
    assert data.feature_names == (NAMES if suffix != "npy" else [name.replace("emb", "vector") for name in NAMES])
    assert np.allclose(data.x, expected.x)


def test_blank_vectors_are_missing_values_and_later_tables_are_read_alike():
    data = read_graph(table(emb=[*VECTORS[:4].tolist(), None]), EDGES)
    assert (data.x[4] == 0).all()
    later = read_graph(table(emb=[*VECTORS[:4].tolist(), None]), EDGES, encoding=data.encoding)
    assert (later.x == data.x).all()


def test_vectors_can_be_ignored():
    data = read_graph(table(emb=VECTORS.tolist(), f=range(5)), EDGES, ignore=["emb"])
    assert data.feature_names == ["f"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, 2], [1, 2, 3], [1, 2], [1, 2], [1, 2]], "column 'emb', row 2: has 3 numbers, but the first vector has 2"),
        (["[1, 2]", "[1, x]", "[1, 2]", "[1, 2]", "[1, 2]"], "row 2: is not a list of numbers, but the first"),
        (["[1, 2]", "[" * 9999, "[1, 2]", "[1, 2]", "[1, 2]"], "row 2: is not a list of numbers, but the first"),
        ([["a"], ["b"], ["c"], ["d"], ["e"]], "contains list values, not numbers or text"),
    ],
)
def test_faulty_vectors_are_one_line_with_the_place(values, message):
    with pytest.raises(InputError, match=message):
        read_graph(table(emb=values), EDGES)


def test_text_in_brackets_is_no_vector():
    data = read_graph(table(kind=["[new]", "[old]", "[new]", "[old]", "[new]"]), EDGES)
    assert data.feature_names == ["kind=[new]", "kind=[old]"]


def test_two_columns_of_a_name_are_refused():
    with pytest.raises(InputError, match="a vector needs the column 'emb_1', which there is already: rename one"):
        read_graph(table(emb=VECTORS.tolist(), emb_1=range(5)), EDGES)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (VECTORS[:4], "has 4 rows, but the table beside it has 5"),
        (VECTORS[:, 0], "must hold numbers of shape"),
        (VECTORS.astype(str), "must hold numbers of shape"),
    ],
)
def test_a_file_beside_the_table_that_does_not_fit_is_refused(tmp_path, array, message):
    table(f=range(5)).to_csv(tmp_path / "n.csv", index=False)
    np.save(tmp_path / "n.npy", array)
    with pytest.raises(InputError, match=message):
        read_graph(tmp_path / "n.csv", EDGES)
    (tmp_path / "n.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match="not a readable"):
        read_graph(tmp_path / "n.csv", EDGES)


def test_lists_of_labels_are_refused():
    with pytest.raises(InputError, match="column 'topics': has several labels per node"):
        read_graph(table(topics=[["a"], ["b"], ["a", "b"], ["a"], ["b"]], f=range(5)), EDGES, label="topics")
