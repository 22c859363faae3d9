"""Tables from CSV, TSV and Parquet files, or from data frames."""

import zlib
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ncgnn.data.tables.parquet import parts, read_parquet
from ncgnn.data.tables.text_files import DELIMITERS, read_text, reason
from ncgnn.errors import InputError
from ncgnn.files import PARQUET

Table = str | Path | pd.DataFrame
_UNCONVERTED = (pa.ArrowException, ValueError, LookupError, TypeError, OverflowError, NotImplementedError)


def read_table(table: Table, what: str) -> tuple[pd.DataFrame, str]:
    """The table, and its name for messages: its path, or ``what`` for a data frame."""
    if isinstance(table, pd.DataFrame):
        frame = table.reset_index(drop=table.index.name is None or table.index.name in table.columns)
        return _with_names(frame, [str(name) for name in frame.columns], what), what
    if not isinstance(table, str | Path):
        raise InputError(f"{what}: give a path or a pandas data frame, not {type(table).__name__}")
    path = Path(table)
    _check_file(path)
    try:
        arrow = read_parquet(path) if path.is_dir() or _suffix(path) in PARQUET else read_text(path, _suffix(path))
        names = arrow.column_names
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: {reason(error)}") from error
    return _with_names(_to_frame(arrow, str(path)), names, str(path)), str(path)


def _to_frame(arrow: pa.Table, where: str) -> pd.DataFrame:
    """A data frame whose columns are numbered, because names may be repeated."""
    numbered = arrow.rename_columns([str(i) for i in range(arrow.num_columns)])
    try:
        frame: pd.DataFrame = numbered.to_pandas(ignore_metadata=True, date_as_object=False)
        return frame
    except _UNCONVERTED:
        for name, column in zip(arrow.column_names, arrow.columns, strict=True):
            try:
                column.to_pandas(date_as_object=False)
            except _UNCONVERTED as error:
                kind, why = column.type, " ".join(str(error).split())
                raise InputError(
                    f"{where}, column {name!r}: {kind} values cannot be read ({why}): convert or remove the column"
                ) from None
        raise


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _check_file(path: Path) -> None:
    if path.is_dir():
        if not parts(path):
            raise InputError(f"{path}: is a folder, not a table")
        for part in parts(path):
            _check_regular(part)
        return
    if not path.exists():
        raise InputError(f"{path}: no such file")
    _check_regular(path)
    known = (*DELIMITERS, *PARQUET) if not path.name.lower().endswith(".gz") else tuple(DELIMITERS)
    if _suffix(path) not in known:
        raise InputError(f"{path}: unknown file type; use .csv, .tsv (also .gz) or .parquet")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")


def _check_regular(path: Path) -> None:
    if not path.is_file():  # a pipe may never end
        raise InputError(f"{path}: cannot be read (not a regular file)")


def _with_names(frame: pd.DataFrame, names: list[str], where: str) -> pd.DataFrame:
    titles = pd.Index([name.strip() for name in names])
    is_spare = titles.duplicated() & (titles == "")  # of the columns without a name, one will be dropped with a note
    if is_spare.any():
        frame, titles = frame.loc[:, ~is_spare], titles[~is_spare]
    twice = titles.duplicated()
    if twice.any():
        raise InputError(f"{where}: two columns are called {titles[int(twice.argmax())]!r}: rename one")
    return frame.set_axis(list(titles), axis=1)
