"""Tables from CSV, TSV and Parquet files, or from data frames, with every text value left as text."""

import codecs
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ncgnn.errors import InputError

Table = str | Path | pd.DataFrame
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_BLOCK = 1 << 24  # bytes; a row must fit into one block


def read_table(table: Table, what: str) -> tuple[pd.DataFrame, str]:
    """The table, and what to call it in a message: its path, or ``what`` for a data frame."""
    if isinstance(table, pd.DataFrame):
        frame = table.reset_index(drop=table.index.name is None)
        return _with_names(frame, [str(name) for name in frame.columns], what), what
    path = Path(table)
    _check_file(path)
    try:
        arrow = _read_parquet(path) if _suffix(path) in (".parquet", ".pq") else _read_text(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: {_reason(error)}") from error
    names = arrow.column_names
    frame = arrow.rename_columns([str(i) for i in range(len(names))]).to_pandas(ignore_metadata=True)
    return _with_names(frame, names, str(path)), str(path)


def _read_parquet(path: Path) -> pa.Table:
    arrow = pa.parquet.ParquetFile(path).read()
    return arrow.drop_columns([name for name in arrow.column_names if name.startswith("__index_level_")])


def _read_text(path: Path) -> pa.Table:
    parse = pa.csv.ParseOptions(delimiter=_DELIMITERS[_suffix(path)], newlines_in_values=True)
    # one thread: only then does arrow name the row of a fault
    read = pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK)
    content = _content(path)
    names = pa.csv.open_csv(pa.BufferReader(content), read_options=read, parse_options=parse).schema.names
    _check_separator(path, names)
    convert = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    return pa.csv.read_csv(pa.BufferReader(content), read_options=read, parse_options=parse, convert_options=convert)


def _check_separator(path: Path, names: list[str]) -> None:
    other = next((mark for mark in ";\t|," if mark in names[0]), None) if len(names) == 1 else None
    if other is not None:
        name = "tab" if other == "\t" else repr(other)
        raise InputError(
            f"{path}: the columns seem to be separated by {name}: save it with commas, or with tabs as .tsv"
        )


def _content(path: Path) -> bytes:
    with pa.input_stream(str(path), compression="gzip" if path.name.lower().endswith(".gz") else None) as file:
        content: bytes = file.read()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError("UTF16, not UTF8")
    # arrow takes a header without an end of line for an empty file
    return content if content.endswith(b"\n") else content + b"\n"


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a table")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    known = (*_DELIMITERS, ".parquet", ".pq") if not path.name.lower().endswith(".gz") else tuple(_DELIMITERS)
    if _suffix(path) not in known:
        raise InputError(f"{path}: unknown kind of table; use .csv, .tsv (also with .gz) or .parquet")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")


def _with_names(frame: pd.DataFrame, names: list[str], where: str) -> pd.DataFrame:
    names = [name.strip() for name in names]
    twice = pd.Index(names).duplicated()
    if twice.any():
        raise InputError(f"{where}: two columns are called {names[int(twice.argmax())]!r}: rename one")
    return frame.set_axis(names, axis=1)


def _reason(error: Exception) -> str:
    """Arrow's message as a line for the person who owns the table."""
    message = str(error).replace("\n", " ")
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message)
    if ragged:
        row, expected, got = map(int, ragged.groups())
        return f"row {row - 1} has {got} values where the header has {expected}: quote values that hold the separator"
    if isinstance(error, UnicodeDecodeError) or "UTF8" in message:
        return "the text is not UTF-8: save the table as UTF-8"
    if "Empty CSV" in message:
        return "the table has no rows"
    return f"cannot be read ({message[:200]})"
