"""Parquet columns whose text is kept in dictionaries, because written out it may not fit into memory."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from ncgnn.data.tables import parquet

ROWS = 30_000


def stored(path, *values: str):
    """A column that repeats these values, in three row groups."""
    column = pa.array(values * (ROWS // len(values)))
    pa.parquet.write_table(pa.table({"odd": column}), path, row_group_size=ROWS // 3)
    return path


@pytest.mark.parametrize(("size", "is_large"), [(10, False), (40, True)])
def test_text_is_as_large_as_its_longest_value_in_every_row(size, is_large, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "available_bytes", lambda: parquet._COPIES * ROWS * 30)
    path = stored(tmp_path / "a.parquet", "x" * size, "y")
    assert parquet._repeated(path) == (["odd"] if is_large else [])


def test_other_chunks_of_a_column_count_too(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "available_bytes", lambda: parquet._COPIES * ROWS * 9)
    assert parquet._repeated(stored(tmp_path / "a.parquet", "x" * 10)) == ["odd"]


def test_what_is_kept_in_a_dictionary_is_read_as_text(tmp_path, monkeypatch):
    path = stored(tmp_path / "a.parquet", "x" * 40, "y")
    plain = parquet.read_parquet(path)
    monkeypatch.setattr(parquet, "_repeated", lambda path: ["odd"])
    assert parquet.read_parquet(path).equals(plain)
