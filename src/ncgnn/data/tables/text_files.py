"""Read CSV and TSV files, with all values as text."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from ncgnn.errors import InputError
from ncgnn.memory import check_memory
from ncgnn.text import several

DELIMITERS = {".csv": ",", ".tsv": "\t"}
_MARKS = ",\t;|"
_BLOCK = 1 << 24  # bytes; a row must fit into one block
_COLUMN = 20_000  # bytes that arrow takes for each column, however short it is
_COPIES = 4  # of the text, until it is a table
_GZIP = b"\x1f\x8b"
_OF_EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_WIDE = {  # longer byte-order marks first: UTF-32's begins like UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_text(path: Path, suffix: str) -> pa.Table:
    """Read a table; the separator follows from the suffix, unless another one fits better."""
    content = _content(path)
    delimiter = find_delimiter(content, DELIMITERS[suffix])
    columns = content.count(delimiter.encode(), 0, content.find(b"\n")) + 1
    check_memory(_COLUMN * columns, f"{path}: reading {columns} columns", "use fewer columns")
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    # with several threads, arrow does not report the row of an error
    read = pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK)
    owned = _owned_by_arrow(content)
    del content
    names = pa.csv.open_csv(pa.BufferReader(owned), read_options=read, parse_options=parse).schema.names
    convert = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    return pa.csv.read_csv(pa.BufferReader(owned), read_options=read, parse_options=parse, convert_options=convert)


def _owned_by_arrow(content: bytes) -> pa.Buffer:
    """A copy. After an error, a thread of arrow may still hold the text when Python ends, and could not free Python's
    own: it would abort the process."""
    stream = pa.BufferOutputStream()
    stream.write(content)
    return stream.getvalue()


def find_delimiter(content: bytes, usual: str) -> str:
    """The separator: the usual one if all first rows then have as many values as the header, otherwise another."""
    marks: list[str] = [usual, *_MARKS]
    widths = {mark: _widths(content, mark) for mark in marks}
    candidates = [mark for mark, found in widths.items() if found and found[0] > 1]
    even = [mark for mark in candidates if len(set(widths[mark])) == 1]
    if usual in even or not candidates or (usual in candidates and not even):
        return usual
    others = sorted(even or candidates, key=lambda mark: -widths[mark][0])
    return others[0]


def reason(error: Exception) -> str:
    """Arrow's error as a one-line message for the user."""
    message = " ".join(str(error).split())
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message)
    if ragged:
        row, expected, got = map(int, ragged.groups())
        advice = "quote values that contain the separator" if got > expected else "is the file cut off?"
        return f"row {row - 1} has {several(got, 'value')}, but the header has {expected}: {advice}"
    if isinstance(error, UnicodeDecodeError) or "UTF8" in message:
        return "the text is not UTF-8: save the table as UTF-8"
    if "Empty CSV" in message:
        return "the table has no rows"
    return f"cannot be read ({message[:200]})"


def _widths(content: bytes, mark: str) -> list[int]:
    """Number of values in the first rows if ``mark`` is the separator."""
    start = content[: 1 << 16]
    lines = io.StringIO(start.decode("utf-8-sig", "replace"), newline="")
    try:
        found = [len(row) for row in islice(csv.reader(lines, delimiter=mark), 50) if row]
    except csv.Error:
        return []
    return found if len(start) == len(content) or len(found) < 2 else found[:-1]  # the last row may be cut


def _parts(stream: pa.NativeFile, path: Path, copies: int) -> Iterator[bytes]:
    """One part after the other, because a small packed file may hold any amount."""
    total = 0
    while part := stream.read(_BLOCK):
        total += len(part)
        check_memory(copies * total, f"{path}: reading {total >> 20} MB of text", "use a smaller file")
        yield part


def read_content(path: Path, copies: int = _COPIES) -> bytes:
    """What a file holds, unpacked, if there is memory for ``copies`` times as much."""
    with path.open("rb") as file:
        zipped = path.name.lower().endswith(".gz") or file.read(2) == _GZIP
    with pa.input_stream(str(path), compression="gzip" if zipped else None) as stream:
        return b"".join(_parts(stream, path, copies))


def _check_text(content: bytes, path: Path) -> None:
    """Refuse what a spreadsheet or another program has saved, but not as a table of text."""
    if content.startswith(_OF_EXCEL):
        raise InputError(f"{path}: is an Excel or zip file, not text: export the table as CSV")
    if content[:4].lower() == b"sep=":
        raise InputError(f"{path}: the first line, 'sep=', is for Excel alone: remove it")
    if b"\0\0" in (content[:4:2], content[1:4:2]):  # a NUL as every other byte
        raise InputError(f"{path}: is UTF-16 without a byte-order mark: save the table as UTF-8")


def _content(path: Path) -> bytes:
    content = read_content(path)
    wide = next((name for mark, name in _WIDE.items() if content.startswith(mark)), None)
    if wide is not None:
        content = content.decode(wide).encode()
    _check_text(content, path)
    # arrow treats a header without a line break as an empty file
    return content if content.endswith(b"\n") else content + b"\n"
