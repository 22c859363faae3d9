import codecs
import gzip
import re

import pytest

from ncgnn.data.tables.files import read_table
from ncgnn.data.tables.text_files import find_delimiter
from ncgnn.errors import InputError

ROWS = [["id", "title", "size"], ["1", "a", "3"], ["2", "b", "4"]]


def text(mark: str) -> str:
    return "".join(mark.join(row) + "\n" for row in ROWS)


@pytest.mark.parametrize("name", ["n.csv", "n.tsv"])
@pytest.mark.parametrize("mark", list(",\t;|"))
def test_the_separator_is_found_whatever_the_file_is_called(write, name, mark):
    frame, _ = read_table(write(name, text(mark)), "node table")
    assert [list(frame.columns), *frame.to_numpy().tolist()] == ROWS


@pytest.mark.parametrize(
    ("content", "usual", "expected"),
    [
        ("a,b\n1;2,3\n", ",", ","),
        ("a;b\n1,5;2\n", ",", ";"),
        ("a, old;b\n1,5;2\n3;4\n", ",", ";"),  # commas in the header, but not as many in each row
        ('a;"b,c"\n1;2\n', ",", ";"),
        ("a\n1,2\n", ",", ","),
        ("", ",", ","),
        ("a\tb,c\n1\t2,3\n", ",", ","),  # both would do
        ("a\tb,c\n1\t2,3\n", "\t", "\t"),
    ],
)
def test_the_separator_is_the_one_that_divides_the_header_and_the_rows_alike(content, usual, expected):
    assert find_delimiter(content.encode(), usual) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("utf-32"),
        lambda text: gzip.compress(text.encode()),
    ],
)
def test_encodings_line_ends_and_compression_do_not_matter(write, encode, end):
    content = 'id,title\n1,Zürich\n2,"東, 京"\n'.replace("\n", end)
    frame, _ = read_table(write("n.csv", encode(content)), "node table")
    assert frame.to_numpy().tolist() == [["1", "Zürich"], ["2", "東, 京"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,t\n1,a\n".encode("utf-16-le"), "is UTF-16 without a byte-order mark: save the table as UTF-8"),
        ("id,t\n1,a\n".encode("utf-16-be"), "is UTF-16 without a byte-order mark: save the table as UTF-8"),
        (b"PK\x03\x04 a workbook", "is an Excel or zip file, not text: export the table as CSV"),
        (b"sep=;\nid;t\n1;a\n", "the first line, 'sep=', is for Excel alone: remove it"),
    ],
)
def test_what_spreadsheets_save_by_mistake_is_named(write, content, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_table(write("n.csv", content), "node table")


def test_trailing_commas_make_one_column_without_a_name(write):
    frame, _ = read_table(write("n.csv", "id,f,,,\n1,0,,,\n"), "node table")
    assert list(frame.columns) == ["id", "f", ""]


def test_two_encodings_in_one_file_are_an_error(write):
    content = "id,t\n1,Zürich\n".encode() + "2,Köln\n".encode("latin-1")
    with pytest.raises(InputError, match=r"n.csv: the text is not UTF-8"):
        read_table(write("n.csv", content), "node table")


def test_what_is_no_table_at_all_is_named():
    with pytest.raises(InputError, match="node table: give a path or a pandas data frame, not list"):
        read_table([[1, 2]], "node table")
