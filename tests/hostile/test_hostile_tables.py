"""Tables and GraphML files with what other programs may put into them."""

import gzip
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.hostile.sound import CHEAP, NODES

TRAIN = ["--label", "topic", *CHEAP, "--out", "made"]
TABLES = ["--nodes", "nodes.parquet", "--edges", "edges.csv", *TRAIN]
DAY = 86_400_000_000


@pytest.fixture
def with_column(tmp_path) -> Callable[[pa.Array], None]:
    """Write tables with one more column."""

    def write(column: pa.Array) -> None:
        plain = {"id": [f"n{i}" for i in range(NODES)], "size": list(range(NODES)), "topic": ["a", "b"] * (NODES // 2)}
        pa.parquet.write_table(pa.table({**plain, "odd": column}), tmp_path / "nodes.parquet")
        (tmp_path / "edges.csv").write_text("source,target\nn0,n2\n")

    return write


def not_utf8() -> pa.Array:
    return pa.Array.from_buffers(pa.string(), NODES, pa.array([b"a\xff"] * NODES).buffers())


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([b"a\xff"] * NODES), "column 'odd': its values are not UTF-8"),
        (pa.array([b"\xff\xfe"] * NODES, pa.binary(2)), "column 'odd': its values are not UTF-8"),
        (not_utf8(), "column 'odd': its values are not UTF-8"),
        (pa.array([i * DAY for i in range(NODES)], pa.timestamp("us", "Mars/Olympus")), "column 'odd': .*Mars/Olympus"),
        (pa.array([i * 10**13 for i in range(NODES)], pa.timestamp("s")), "column 'odd'"),
        (pa.array([2**31 - 1 - i for i in range(NODES)], pa.date32()), "column 'odd'"),
        (pa.array([i * 10**12 for i in range(NODES)], pa.duration("s")), "column 'odd'"),
        (pa.array([[[i]] for i in range(NODES)]), "column 'odd': contains .* values, not numbers or text"),
        (pa.array([{"a": i} for i in range(NODES)]), "column 'odd': contains .* values, not numbers or text"),
    ],
    ids=["binary", "fixed", "utf8", "zone", "far", "date", "duration", "nested list", "struct"],
)
def test_parquet_columns_that_are_no_features(refuses, with_column, column, message):
    with_column(column)
    refuses("train", *TABLES, message=message)


@pytest.mark.parametrize("kind", [pa.binary(), pa.binary(1), pa.large_binary()])
def test_text_that_was_saved_as_bytes_is_read_as_text(commands, with_column, tmp_path, kind):
    with_column(pa.array([b"p", b"q"] * (NODES // 2), kind))
    assert commands.run(tmp_path, ["train", *TABLES]).code == 0


GRAPH = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="f" for="node" attr.name="f" attr.type="int">{default}</key><graph edgedefault="undirected">
<node id="a"><data key="f">1</data></node><node id="b"/></graph></graphml>"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.graphml.gz", gzip.compress(GRAPH.format(default="").encode() * 50)[:-20]),
        ("bad.graphml.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 60),
        ("bad.graphml", GRAPH.format(default="<default></default>").encode()),
        ("bad.graphml", b'<?xml version="1.0" encoding="made-up"?>' + GRAPH.format(default="").encode()),
        ("bad.graphml", GRAPH.format(default="").replace('"a"', '"&#xD800;"').encode()),  # half of a character
    ],
    ids=["cut", "damaged", "default", "encoding", "surrogate"],
)
def test_graphml_that_cannot_be_read(refuses, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    refuses("train", "--nodes", name, *TRAIN, message=f"{name}: ")


@pytest.mark.parametrize("content", [b"id,topic\na,x\n\xed\xa0\x80,y\n", b"id,topic\na,x\nb,\xed\xa0\x80\n"])
def test_half_of_a_character_in_a_table(refuses, tmp_path, content):
    (tmp_path / "bad.csv").write_bytes(content)
    (tmp_path / "links.csv").write_text("source,target\na,b\n")
    options = ["--nodes", "bad.csv", "--edges", "links.csv", "--label", "topic", *TRAIN]
    refuses("train", *options, message="bad.csv: .*(UTF-8|Unicode)")


def test_a_small_table_of_very_many_columns(refuses, tmp_path):
    (tmp_path / "nodes.csv").write_text(f"id,{','.join(map(str, range(300_000)))}\na{',1' * 300_000}\n")
    (tmp_path / "edges.csv").write_text("source,target\n")
    message = r"nodes.csv: reading 300001 columns would take [\d.]+ GB of memory, and .* are free: use fewer columns"
    refuses("train", "--nodes", "nodes.csv", "--edges", "edges.csv", *TRAIN, message=message)


def test_graphml_in_which_each_node_has_an_attribute_of_its_own(refuses, tmp_path):
    count = 20_000
    keys = "".join(f'<key id="k{i}" for="node" attr.name="f{i}" attr.type="int"/>' for i in range(count))
    nodes = "".join(f'<node id="n{i}"><data key="k{i}">1</data></node>' for i in range(count))
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    content = f'{head}{keys}<graph edgedefault="undirected">{nodes}</graph></graphml>'
    (tmp_path / "wide.graphml").write_text(content)
    message = r"a table of 20000 nodes with 20000 attributes would take [\d.]+ GB of memory, and .* are free"
    refuses("train", "--nodes", "wide.graphml", *TRAIN, message=message)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["x" * 200_000]), r"column 'odd': reading 3814 MB of text would take [\d.]+ GB of memory"),
        (pa.array([b"x" * 50_000], pa.binary(50_000)), r"nodes.parquet: reading 20000 rows of 2 columns would take"),
    ],
    ids=["text", "fixed"],
)
@pytest.mark.parametrize("is_kept", [False, True], ids=["", "schema"])
def test_a_small_parquet_table_that_repeats_a_long_value(refuses, tmp_path, column, message, is_kept):
    """Stored once, and a number for each row."""
    repeated = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int32), column)
    table = pa.table({"id": range(20_000), "odd": repeated})
    pa.parquet.write_table(table, tmp_path / "nodes.parquet", store_schema=is_kept)
    (tmp_path / "edges.csv").write_text("source,target\n")
    refuses("check", "--nodes", "nodes.parquet", "--edges", "edges.csv", "--label", "odd", message=message)


def test_a_small_packed_table_that_holds_gigabytes(refuses, tmp_path):
    packed = gzip.compress(b"id,f\na,1\n", 1) + gzip.compress(bytes(1 << 26), 1) * 40
    (tmp_path / "nodes.csv.gz").write_bytes(packed)
    (tmp_path / "edges.csv").write_text("source,target\n")
    given = ["--nodes", "nodes.csv.gz", "--edges", "edges.csv", *TRAIN]
    refuses("train", *given, message=r"nodes.csv.gz: reading .* would take .* of memory, and .* are free")
