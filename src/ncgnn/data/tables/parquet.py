"""Read Parquet files, whose columns may be of any type."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from ncgnn.errors import InputError
from ncgnn.files import PARQUET
from ncgnn.memory import check_memory

_CELL = 16  # bytes of a value as a data frame, at least
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)


def read_parquet(path: Path) -> pa.Table:
    """A file, or a folder of parts with the same columns."""
    if not path.is_dir():
        return _read_part(path)
    files = parts(path)
    tables = [_read_part(file) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise ValueError(f"part {file.name} has other columns than the first: {', '.join(table.column_names)}")
    return pa.concat_tables(tables, promote_options="permissive")


def parts(folder: Path) -> list[Path]:
    """The Parquet files of a folder, in the order of their names; as other programs do, hidden ones are left out."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in PARQUET and path.name[0] not in "._")


def _read_part(path: Path) -> pa.Table:
    """The columns, with bytes as the text that they hold, as some programs write it."""
    with pa.parquet.ParquetFile(path) as file:
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
        what = f"{path}: reading {rows} rows of {columns} columns"
        check_memory(_CELL * rows * columns, what, "use a smaller table")
        arrow = file.read()
    arrow = arrow.drop_columns([name for name in arrow.column_names if name.startswith("__index_level_")])
    named = zip(arrow.column_names, arrow.columns, strict=True)
    return pa.table([_sound(column, f"{path}, column {name!r}") for name, column in named], names=arrow.column_names)


def _sound(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    try:
        column.validate(full=True)
        if any(is_kind(column.type) for is_kind in _BYTES):
            return pc.cast(pc.cast(column, pa.large_binary()), pa.large_string())
    except (pa.ArrowException, ValueError):
        raise InputError(f"{where}: its values are not UTF-8 text: save them as text, or remove the column") from None
    return column
