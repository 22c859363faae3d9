import gzip

import pandas as pd
import pytest

from ncgnn.data import read_graph
from ncgnn.errors import InputError

NODES, EDGES = "id,f\n1,0\n2,1\n", "source,target\n1,2\n"
TWENTY = "id,f\n" + "".join(f"{i},{i * 3}\n" for i in range(1, 21))


def with_value(value: str) -> str:
    """Twenty rows of numbers with ``value`` in row 17."""
    return TWENTY.replace("17,51\n", f"17,{value}\n")


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "message"),
    [
        ("", EDGES, {}, "n.csv: the file is empty"),
        ("\n\n", EDGES, {}, "n.csv: the table has no rows"),
        ("id,f\n", EDGES, {}, "n.csv: the table has no rows"),
        (NODES, "", {}, "e.csv: the file is empty"),
        ("id,f\n1,0\n2\n", EDGES, {}, "n.csv: row 2 has 1 value, but the header has 2: is the file cut off?"),
        ("id,f\n1,0\n2,1,5\n", EDGES, {}, "n.csv: row 2 has 3 values, but the header has 2: quote values"),
        ("id,f\n1,\xe9\n".encode("latin-1"), EDGES, {}, "n.csv: the text is not UTF-8"),
        (NODES.encode("utf-16")[:-1], EDGES, {}, "n.csv: the text is not UTF-8"),
        ("id,f,f\n1,0,0\n", EDGES, {}, "n.csv: two columns are called 'f'"),
        (NODES, EDGES, {"id": "key"}, "n.csv: there is no column 'key'; columns: id, f"),
        (NODES, EDGES, {"label": "y"}, "n.csv: there is no column 'y'; columns: id, f"),
        (
            "id,f,y\n" + "".join(f"{i},1,{i / 7}\n" for i in range(40)),
            "source,target\n1,2\n",
            {"label": "y"},
            "n.csv, column 'y': 40 different numbers in 40 labelled rows are not classes: choose another column, or",
        ),
        (NODES, EDGES, {"source": "sorce"}, "columns: source, target; did you mean 'source'?"),
        (NODES, EDGES, {"ignore": ["g"]}, "n.csv: there is no column 'g'"),
        (NODES, EDGES, {"categorical": ["g"]}, "n.csv: there is no column 'g'"),
        (NODES, EDGES, {"weight": "w"}, "e.csv: there is no column 'w'; columns: source, target"),
        (NODES, EDGES, {"source": "from"}, "e.csv: there is no column 'from'"),
        (NODES, "from,to\n1,2\n", {"target": "into"}, "e.csv: there is no column 'into'; columns: from, to"),
        (NODES, "source\n1\n", {}, "e.csv: an edge table needs two columns"),
        ("y\na\n", EDGES, {"label": "y"}, "n.csv: no id column"),
        ("id,f\n1,0\n2,1\n1,1\n1,0\n", EDGES, {}, "'id', row 3: id '1' is a duplicate; rows with a repeated id: 2"),
        ("id,f\n1,0\n ,1\n", EDGES, {}, "column 'id', row 2: the id is blank"),
        (NODES, EDGES + "2,9\n8,1\n", {}, "'target', row 2: node '9' is not in .*; edges with an unknown node: 2"),
        (NODES, EDGES + ",1\n", {}, "column 'source', row 2: node '' is not in"),
        (NODES, "source,target,w\n1,2,0\n", {"weight": "w"}, "column 'w', row 1: weight 0 is not positive"),
        (NODES, "source,target,w\n1,2,-1\n", {"weight": "w"}, "column 'w', row 1: weight -1 is not positive"),
        (NODES, "source,target,w\n1,2,\n", {"weight": "w"}, "column 'w', row 1: the value is missing"),
        (NODES, "source,target,w\n1,2,inf\n", {"weight": "w"}, "column 'w', row 1: 'inf' is not a finite number"),
        (NODES, "source,target,w\n1,2,x\n", {"weight": "w"}, "column 'w', row 1: 'x' is not a finite number"),
        (with_value("n/a"), EDGES, {}, "column 'f', row 17: 'n/a' is not a finite number; .*categorical"),
        (with_value("-inf"), EDGES, {}, "column 'f', row 17: '-inf' is not a finite number"),
        (with_value("1e300"), EDGES, {}, "column 'f', row 17: '1e300' is too large"),
    ],
)
def test_a_faulty_table_is_one_line_with_the_place(write, nodes, edges, options, message):
    with pytest.raises(InputError, match=message) as caught:
        read_graph(write("n.csv", nodes), write("e.csv", edges), **options)
    assert "\n" not in str(caught.value)


def test_many_columns_are_not_all_listed(write):
    nodes = write("n.csv", ",".join(f"c{i}" for i in range(2000)) + "\n" + ",".join("0" * 2000) + "\n")
    with pytest.raises(InputError, match=r"c11, ...$"):
        read_graph(nodes, write("e.csv", EDGES), id="key")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("n.xlsx", b"x", "n.xlsx: unknown file type"),
        ("n.parquet.gz", b"x", "n.parquet.gz: unknown file type"),
        ("n.parquet", b"PAR1 and nothing more", "n.parquet: cannot be read"),
        ("n.csv.gz", b"no gzip", "n.csv.gz: cannot be read"),
        ("n.csv.gz", gzip.compress(TWENTY.encode(), mtime=0)[:30], "n.csv.gz: cannot be read"),
    ],
)
def test_files_that_are_no_tables(write, name, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read_graph(write(name, content), write("e.csv", EDGES))
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders(write, tmp_path):
    with pytest.raises(InputError, match=r"nothing.csv: no such file"):
        read_graph(tmp_path / "nothing.csv", write("e.csv", EDGES))
    with pytest.raises(InputError, match="is a folder, not a table"):
        read_graph(tmp_path, write("e.csv", EDGES))


def test_a_node_table_needs_an_edge_table(write):
    with pytest.raises(InputError, match="edge table is required"):
        read_graph(write("n.csv", NODES))


@pytest.mark.parametrize("values", [[1j, 2], [{"a": 1}, None]])
def test_values_that_are_neither_numbers_nor_text(values):
    nodes, edges = pd.DataFrame({"id": [1, 2], "f": values}), pd.DataFrame({"source": [1], "target": [2]})
    with pytest.raises(InputError, match=r"node table, column 'f': contains .* values"):
        read_graph(nodes, edges)


def test_text_that_is_no_unicode_is_an_error():
    nodes = pd.DataFrame({"id": pd.Series(["\ud800", "2"], dtype=object), "f": [1, 2]})
    with pytest.raises(InputError, match="column 'id': contains text that is not valid Unicode"):
        read_graph(nodes, pd.DataFrame({"source": ["2"], "target": ["2"]}))


@pytest.mark.parametrize(
    ("said", "place"),
    [({"numeric": ["f"]}, "column 'f', row 1: '12,18'"), ({"weight": "w"}, "column 'w', row 1: '2,5'")],
)
def test_a_decimal_comma_is_named_wherever_a_number_is_wanted(said, place):
    nodes = pd.DataFrame({"id": [1, 2], "f": ["12,18", "3,5"] if "numeric" in said else [1, 2]})
    edges = pd.DataFrame({"source": [1], "target": [2], "w": ["2,5"]})
    with pytest.raises(InputError, match=f"{place} has a comma; write numbers like 3.5"):
        read_graph(nodes, edges, **said)


def test_a_weight_column_without_any_number_is_the_wrong_one():
    edges = pd.DataFrame({"source": [1], "target": [2], "colour": ["red"]})
    message = "'red' is not a finite number; no value in this column is: use another weight column"
    with pytest.raises(InputError, match=message):
        read_graph(pd.DataFrame({"id": [1, 2], "f": [1, 2]}), edges, weight="colour")


def test_texts_are_no_classes():
    nodes = pd.DataFrame({"id": range(60), "f": range(60), "note": [f"note {i}" for i in range(60)]})
    message = "60 different values in 60 labelled rows are not classes: choose another column"
    with pytest.raises(InputError, match=message):
        read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]}), label="note")
