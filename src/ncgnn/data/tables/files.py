"""Tables from CSV, TSV and Parquet files, or from data frames."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from ncgnn.data.tables.text_files import DELIMITERS, read_text, reason
from ncgnn.errors import InputError

Table = str | Path | pd.DataFrame
_PARQUET = (".parquet", ".pq")


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
        is_parquet = path.is_dir() or _suffix(path) in _PARQUET
        arrow = _read_parquet(path) if is_parquet else read_text(path, _suffix(path))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: {reason(error)}") from error
    names = arrow.column_names
    numbered = arrow.rename_columns([str(i) for i in range(len(names))])
    frame = numbered.to_pandas(ignore_metadata=True, date_as_object=False)
    return _with_names(frame, names, str(path)), str(path)


def _read_parquet(path: Path) -> pa.Table:
    parts = [_read_part(part) for part in (_parts(path) if path.is_dir() else [path])]
    for part, file in zip(parts, _parts(path) if path.is_dir() else (), strict=False):
        if part.column_names != parts[0].column_names:
            raise ValueError(f"part {file.name} has other columns than the first: {', '.join(part.column_names)}")
    return pa.concat_tables(parts, promote_options="permissive")


def _parts(folder: Path) -> list[Path]:
    """The Parquet files of a folder, in the order of their names; as other programs do, hidden ones are left out."""
    return sorted(path for path in folder.iterdir() if _suffix(path) in _PARQUET and path.name[0] not in "._")


def _read_part(path: Path) -> pa.Table:
    with pa.parquet.ParquetFile(path) as file:
        arrow = file.read()
    return arrow.drop_columns([name for name in arrow.column_names if name.startswith("__index_level_")])


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _check_file(path: Path) -> None:
    if path.is_dir():
        if not _parts(path):
            raise InputError(f"{path}: is a folder, not a table")
        return
    if not path.exists():
        raise InputError(f"{path}: no such file")
    known = (*DELIMITERS, *_PARQUET) if not path.name.lower().endswith(".gz") else tuple(DELIMITERS)
    if _suffix(path) not in known:
        raise InputError(f"{path}: unknown file type; use .csv, .tsv (also .gz) or .parquet")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")


def _with_names(frame: pd.DataFrame, names: list[str], where: str) -> pd.DataFrame:
    names = [name.strip() for name in names]
    twice = pd.Index(names).duplicated()
    if twice.any():
        raise InputError(f"{where}: two columns are called {names[int(twice.argmax())]!r}: rename one")
    return frame.set_axis(names, axis=1)
