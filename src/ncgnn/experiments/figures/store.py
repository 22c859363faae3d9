"""The data behind each figure, as CSV files, and the page that shows the figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ncgnn.errors import InputError
from ncgnn.files import atomic

Tables = dict[str, pd.DataFrame]
Columns = Mapping[str, tuple[str, ...]]
"""The required columns of each table; a table may have more."""

_NAMES = ("node", "label", "class", "source", "target")  # names, even if they look like numbers


def table_path(folder: Path, figure: str, table: str) -> Path:
    return folder / f"{figure}-{table}.csv"


def write_tables(folder: Path, figure: str, tables: Tables) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        with atomic(table_path(folder, figure, name)) as file:
            table.to_csv(file, index=False, lineterminator="\n")


def has_tables(folder: Path, figure: str, columns: Columns) -> bool:
    return all(table_path(folder, figure, name).is_file() for name in columns)


def read_tables(folder: Path, figure: str, columns: Columns) -> Tables:
    return {name: _read(table_path(folder, figure, name), figure, wanted) for name, wanted in columns.items()}


def _read(path: Path, figure: str, wanted: tuple[str, ...]) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(_NAMES, str), keep_default_na=False)
    except OSError:
        raise InputError(f"{path}: does not exist; create it with ncgnn reproduce {figure}") from None
    except (ValueError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a table ({reason}); recreate it with ncgnn reproduce {figure}") from None
    missing = [column for column in wanted if column not in table]
    if missing or table.empty:
        lacks = f"no column {missing[0]!r}" if missing else "no rows"
        raise InputError(f"{path}: {lacks}; recreate it with ncgnn reproduce {figure}")
    return table


def write_page(page: Path, introduction: str, shown: Sequence[tuple[str, str, Path]]) -> None:
    """Write a title, a caption and a picture per figure."""
    sections = (_section(title, caption, picture, page.parent) for title, caption, picture in shown)
    page.parent.mkdir(parents=True, exist_ok=True)
    with atomic(page) as file:
        file.write("\n".join([f"# Figures\n\n{introduction}\n", *sections]))


def _section(title: str, caption: str, picture: Path, folder: Path) -> str:
    return f"## {title}\n\n![{title}]({picture.relative_to(folder).as_posix()})\n\n{caption}\n"
