import pandas as pd
import pytest
import torch

from ncgnn.data import Encoding, read_graph, save_graph
from ncgnn.errors import InputError

EDGES = pd.DataFrame({"a": [1], "b": [2], "w": [2.0]})


def table(**changes):
    columns = {
        "key": [1, 2, 3],
        "age": [10.0, 20.0, 60.0],
        "flag": [True, False, True],
        "venue": ["KDD", "ICML", "KDD"],
        "y": ["u", "v", ""],
    }
    return pd.DataFrame({key: value for key, value in (columns | changes).items() if value is not None})


@pytest.fixture
def trained():
    return read_graph(table(), EDGES, id="key", label="y", source="a", target="b", weight="w")


def replay(nodes, trained, edges=EDGES):
    return read_graph(nodes, edges, encoding=trained.encoding, class_names=trained.class_names)


def test_replaying_on_the_same_tables_gives_the_same_graph(trained):
    again = replay(table(), trained)
    assert torch.equal(again.x, trained.x)
    assert torch.equal(again.y, trained.y)
    assert torch.equal(again.edge_weight, trained.edge_weight)
    assert again.encoding == trained.encoding


def test_text_replays_what_types_taught(trained, write):
    text = write("n.csv", "venue,y,key,flag,extra,age\nKDD,u,1,true,9,10\nICML,v,2,False,9,20\nKDD,,3,TRUE,9,60\n")
    again = replay(text, trained)
    assert torch.equal(again.x, trained.x)
    assert again.feature_names == trained.feature_names


def test_numbers_are_shifted_and_scaled_as_in_training(trained):
    again = replay(table(age=[30.0, 30.0, 70.0]), trained)
    scale = ((20**2 + 10**2 + 30**2) / 3) ** 0.5  # training: mean 30
    assert again.x[:, 0].tolist() == pytest.approx([0, 0, 40 / scale])


def test_unseen_categories_are_zeros_with_a_warning_that_counts_them(trained):
    with pytest.warns(UserWarning, match=r"'venue': 1 unknown category in 2 rows, .*'VLDB'"):
        again = replay(table(venue=["VLDB", "ICML", "VLDB"]), trained)
    assert again.x[:, 2:].tolist() == [[0, 0], [1, 0], [0, 0]]


def test_classes_keep_their_numbers(trained):
    assert replay(table(y=["v", "v", "v"]), trained).y.tolist() == [1, 1, 1]


def test_a_class_that_training_did_not_have_is_an_error(trained):
    with pytest.raises(InputError, match="'y', row 3: label 'w' is not one of the classes u, v; leave it blank"):
        replay(table(y=["u", "", "w"]), trained)


def test_the_label_may_be_missing(trained):
    again = replay(table(y=None), trained)
    assert again.y.tolist() == [-1, -1, -1]
    assert again.class_names == ["u", "v"]


def test_titles_may_be_missing_renamed_or_new(trained):
    titled = read_graph(table(t=["one", "two", "three"]), EDGES, label="y", title="t", ignore=["t"])
    assert replay(table(t=["a", "b", ""]), titled).node_titles == ["a", "b", ""]
    assert "node_titles" not in replay(table(), titled)
    for earlier in (titled, trained):
        again = read_graph(table(u=["a", "b", "c"]), EDGES, title="u", encoding=earlier.encoding)
        assert again.node_titles == ["a", "b", "c"]


def test_a_missing_feature_is_named(trained):
    with pytest.raises(InputError, match="node table: there is no column 'venue'"):
        replay(table(venue=None), trained)


def test_a_missing_weight_is_named(trained):
    with pytest.raises(InputError, match="edge table: there is no column 'w'"):
        replay(table(), trained, EDGES.drop(columns="w"))


def test_a_column_of_numbers_that_became_text_is_an_error(trained):
    reason = "row 2: 'old' is not a finite number; the model expects numbers in this column"
    with pytest.raises(InputError, match=f"{reason}: correct it, or leave it blank"):
        replay(table(age=["1", "old", "older"]), trained)


def test_a_number_out_of_all_proportion_is_an_error():
    nodes, edges = pd.DataFrame({"id": [1, 2], "f": [0.0, 1e-20]}), pd.DataFrame({"source": [1], "target": [2]})
    trained = read_graph(nodes, edges)
    with pytest.raises(InputError, match=r"column 'f', row 2: 1e\+25 is too far"):
        read_graph(nodes.assign(f=[0.0, 1e25]), edges, encoding=trained.encoding)


def test_differences_too_small_to_square_stay_finite():
    nodes = pd.DataFrame({"id": [1, 2], "f": [1e-200, 2e-200]})
    data = read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]}))
    assert data.x.to_dense().isfinite().all()


def test_a_category_learnt_from_text_is_found_among_numbers():
    first = read_graph(pd.DataFrame({"id": [1, 2], "c": ["1", "x"]}), pd.DataFrame({"source": [1], "target": [2]}))
    again = read_graph(
        pd.DataFrame({"id": [1, 2], "c": [1, 1]}),
        pd.DataFrame({"source": [1], "target": [2]}),
        encoding=Encoding.from_json(first.encoding.to_json()),
    )
    assert again.x.tolist() == [[1, 0], [1, 0]]


def test_the_encoding_travels_with_a_saved_graph(trained, tmp_path):
    save_graph(trained, tmp_path / "g.npz")
    loaded = read_graph(tmp_path / "g.npz", encoding=trained.encoding, class_names=["v", "u"])
    assert loaded.encoding == trained.encoding
    assert loaded.class_names == ["v", "u"]
    assert loaded.y.tolist() == [1, 0, -1]


def test_a_saved_graph_with_other_features_cannot_be_replayed(trained, tmp_path):
    save_graph(trained, tmp_path / "g.npz")
    other = read_graph(table(venue=None), EDGES, id="key", label="y", source="a", target="b")
    with pytest.raises(InputError, match=r"g.npz: its features differ from those"):
        read_graph(tmp_path / "g.npz", encoding=other.encoding)


@pytest.mark.parametrize("text", ["", "[]", '{"id": "a"}', '{"id": 1, "source": "a", "target": "b", "columns": []}'])
def test_text_that_is_no_encoding(text):
    with pytest.raises(InputError, match="not an encoding") as caught:
        Encoding.from_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("said", [{"ignore": ["age"]}, {"categorical": ["age"]}, {"text": ["nothing"]}])
def test_what_contradicts_the_encoding_is_refused(trained, said):
    with pytest.raises(InputError, match=r"the model (uses|does not use) this column"):
        read_graph(table(), EDGES, encoding=trained.encoding, **said)


def test_what_is_said_of_columns_is_refused_where_there_are_none(trained, tmp_path):
    save_graph(trained, tmp_path / "g.npz")
    for graph in (trained, tmp_path / "g.npz"):
        with pytest.raises(InputError, match="label only applies to tables: remove it"):
            read_graph(graph, label="y")


@pytest.mark.parametrize("column", ["age", "venue", "flag"])
def test_a_column_without_any_value_is_noticed(trained, column):
    with pytest.warns(UserWarning, match=f"column '{column}': every value is blank"):
        replay(table(**{column: [None, None, None]}), trained)
