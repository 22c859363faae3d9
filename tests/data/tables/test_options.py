import re

import pandas as pd
import pytest

from ncgnn.data import read_columns, read_graph
from ncgnn.data.tables.options import with_options
from ncgnn.errors import InputError

NODES = pd.DataFrame(
    {"key": [1, 2, 3], "zip": [7, 8, 7], "when": ["2020-01-01", "", "2021-01-01"], "y": ["u", "v", ""]}
)
EDGES = pd.DataFrame({"a": [1], "b": [2]})


def test_a_file_says_what_options_say(write):
    file = write("c.toml", 'id = "key"\nlabel = "y"\ncategorical = ["zip"]\nignore = ["when"]\n')
    data = read_graph(NODES, EDGES, **read_columns(file))
    by_options = read_graph(NODES, EDGES, id="key", label="y", categorical=["zip"], ignore=["when"])
    assert data.encoding == by_options.encoding
    assert data.feature_names == ["zip=7", "zip=8"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id = ", "not valid TOML"),
        ("key = 1", "unknown key 'key'; known keys: id, label, title, source"),
        ("id = 1", "id = 1: must be a column name"),
        ('text = "a"', "text = 'a': must be a list of column names"),
        ("\xff".encode("latin-1"), "not UTF-8 text"),
    ],
)
def test_a_faulty_file_is_one_line(write, text, message):
    with pytest.raises(InputError, match=rf"c.toml: .*{message}") as caught:
        read_columns(write("c.toml", text))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_columns(tmp_path / "c.toml")


def test_a_column_has_one_kind():
    with pytest.raises(InputError, match="column 'zip' is listed as numeric and as text: keep one"):
        read_graph(NODES, EDGES, numeric=["zip"], text=["zip"])


@pytest.mark.parametrize("kind", ["numeric", "categorical", "date", "text", "ignore"])
def test_a_column_must_be_there(kind):
    with pytest.raises(InputError, match="node table: there is no column 'nothing'"):
        read_graph(NODES, EDGES, **{kind: ["nothing"]})


def test_a_kind_that_the_values_do_not_have_is_an_error():
    with pytest.raises(InputError, match="column 'y', row 1: 'u' is not a finite number"):
        read_graph(NODES, EDGES, numeric=["y"])
    with pytest.raises(InputError, match="column 'y', row 1: 'u' is not a date"):
        read_graph(NODES, EDGES, date=["y"])


def test_an_option_takes_a_column_out_of_every_list_of_the_file():
    file = {"label": "y", "ignore": ["a", "b"], "categorical": ["c"]}
    assert with_options(file, {"numeric": ["a"], "categorical": ["d"], "label": "z"}) == {
        "label": "z",
        "ignore": ["b"],
        "categorical": ["c", "d"],
        "numeric": ["a"],
    }


def test_an_option_takes_the_place_of_what_the_file_says_of_ids_and_labels():
    assert with_options({"categorical": ["y", "c"]}, {"label": "y"}) == {"label": "y", "categorical": ["c"]}
    assert with_options({"label": "y"}, {"categorical": ["y"]}) == {"categorical": ["y"]}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"categorical": ["f"], "ignore": ["f"]}, "column 'f' is listed as categorical and as ignore: keep one"),
        ({"numeric": ["y"]}, "column 'y' is the label, not a feature: remove it from numeric"),
        ({"text": ["id"]}, "column 'id' is the id, not a feature: remove it from text"),
        ({"categorical": "f"}, "categorical='f': give a list of column names"),
    ],
)
def test_what_contradicts_itself_is_refused(said, message):
    nodes = pd.DataFrame({"id": [1, 2], "f": [0.5, 2], "y": ["a", "b"]})
    with pytest.raises(InputError, match=re.escape(message)):
        read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]}), label="y", **said)
