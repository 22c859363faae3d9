"""Read Parquet files, whose columns may be of any type."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from ncgnn.errors import InputError
from ncgnn.files import PARQUET
from ncgnn.memory import available_bytes, check_memory

_CELL = 16  # bytes of a value as a data frame, at least
_COPIES = 4  # of text, until it is a table
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
_TEXTS = (*_BYTES, pa.types.is_string, pa.types.is_large_string)


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
    repeated = _repeated(path)
    with pa.parquet.ParquetFile(path, read_dictionary=repeated) as file:
        arrow = file.read()
    arrow = arrow.drop_columns([name for name in arrow.column_names if name.startswith("__index_level_")])
    columns = []
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        where = f"{path}, column {name!r}"
        _check_text(column, where)
        is_packed = name in repeated and pa.types.is_dictionary(column.type)  # bytes of a fixed size are not
        columns.append(_sound(column.cast(column.type.value_type) if is_packed else column, where))
    return pa.table(columns, names=arrow.column_names)


def _repeated(path: Path) -> list[str]:
    """Columns with text that a small file may repeat in so many rows that these do not fit into memory."""
    with pa.parquet.ParquetFile(path) as file:
        plain = [field.name for field in file.schema_arrow if any(is_kind(field.type) for is_kind in _TEXTS)]
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
        cells = [max(_CELL, _COPIES * file.schema.column(number).length) for number in range(columns)]
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(columns)]
    needed = sum(cell * chunk.num_values for cell, chunk in zip(cells * len(groups), chunks, strict=True))
    needed += sum(chunk.total_uncompressed_size for chunk in chunks)
    check_memory(needed, f"{path}: reading {rows} rows of {columns} columns", "use a smaller table")
    of_columns = {name: [chunk for chunk in chunks if chunk.path_in_schema == name] for name in plain}
    most = available_bytes() / _COPIES
    return [name for name, its in of_columns.items() if _repeats_more_than(most, path, name, its)]


def _repeats_more_than(most: float, path: Path, name: str, chunks: list[Any]) -> bool:
    """Whether text of more than ``most`` bytes may come from dictionaries, each of whose values is at most as large as
    its chunk; if so, the dictionaries tell."""
    lengths = [chunk.total_uncompressed_size * chunk.has_dictionary_page for chunk in chunks]
    if sum(chunk.num_values * length for chunk, length in zip(chunks, lengths, strict=True)) <= most:
        return False
    with pa.parquet.ParquetFile(path, read_dictionary=[name]) as file:
        longest = [_longest(file, group, name) if length else 0 for group, length in enumerate(lengths)]
    return bool(sum(chunk.num_values * length for chunk, length in zip(chunks, longest, strict=True)) > most)


def _longest(file: Any, group: int, name: str) -> int:
    """The length of the longest value in the dictionary of a chunk; reads no more than that and a row."""
    for batch in file.iter_batches(1, row_groups=[group], columns=[name]):
        column = batch.column(0)
        is_packed = pa.types.is_dictionary(column.type)  # bytes of a fixed size are not
        return (pc.max(pc.binary_length(column.dictionary)).as_py() or 0) if is_packed else 0
    return 0


def _check_text(column: pa.ChunkedArray, where: str) -> None:
    """Whether there is memory for the text of each row, if it is not yet written out."""
    if pa.types.is_dictionary(column.type) and any(is_kind(column.type.value_type) for is_kind in _TEXTS):
        lengths = (pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks)
        size = sum(pc.sum(found).as_py() or 0 for found in lengths)
        check_memory(_COPIES * size, f"{where}: reading {size >> 20} MB of text", "use a smaller table")


def _sound(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    try:
        column.validate(full=True)
        if any(is_kind(column.type) for is_kind in _BYTES):
            return pc.cast(pc.cast(column, pa.large_binary()), pa.large_string())
    except (pa.ArrowException, ValueError):
        raise InputError(f"{where}: its values are not UTF-8 text: save them as text, or remove the column") from None
    return column
