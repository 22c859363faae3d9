"""Edge tables by name: one table, several files, or a dict of names and tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ncgnn.data.tables.encoding import Encoding
from ncgnn.data.tables.files import Table, read_table
from ncgnn.errors import InputError
from ncgnn.text import several

ONLY = "edges"
"""Name of an edge table that is not a file."""

EdgeTables = Table | Sequence[str | Path] | Mapping[str, Table]


class Links(NamedTuple):
    """An edge table, and its name in messages."""

    name: str
    table: pd.DataFrame
    where: str


def read_links(edges: EdgeTables) -> tuple[Links, ...]:
    """The edge tables; files are named by their stems."""
    if isinstance(edges, Mapping):
        _check_names(edges)
        return tuple(Links(name, *read_table(table, f"edge table {name!r}")) for name, table in edges.items())
    if isinstance(edges, str | Path | pd.DataFrame) or not isinstance(edges, Sequence):
        return (Links(_name(edges), *read_table(edges, "edge table")),)
    if any(not isinstance(table, str | Path) for table in edges):
        raise InputError("several edge tables: give a list of paths, or a dict of names and tables")
    if not edges:
        raise InputError("an edge table is required (it may be empty)")
    _check_stems(edges)
    return tuple(Links(stem(table), *read_table(table, "edge table")) for table in edges)


def stem(path: str | Path) -> str:
    """The name of the file, without its suffix."""
    name = Path(path).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def in_trained_order(links: tuple[Links, ...], earlier: Encoding) -> tuple[Links, ...]:
    """The tables under the names and in the order of the earlier graph; a single table may have another name."""
    names = [columns.name for columns in earlier.edge_tables]
    if len(names) < 2:
        if len(links) != 1:
            raise InputError(f"the model was trained on 1 edge table, not {len(links)}: give one, or retrain")
        return (links[0]._replace(name=names[0]),) if names else links
    given = {link.name: link for link in links}
    if set(given) != set(names):
        raise InputError(
            f"the model was trained on {several(len(names), 'edge table')} called {', '.join(names)},"
            f" not {', '.join(given)}: give tables with these names, or retrain"
        )
    return tuple(given[name] for name in names)


def _name(table: object) -> str:
    return stem(table) if isinstance(table, str | Path) else ONLY


def _check_names(edges: Mapping[str, Table]) -> None:
    if not edges:
        raise InputError("an edge table is required (it may be empty)")
    for name in edges:
        if not isinstance(name, str) or not name or name != name.strip():
            raise InputError(f"edge table {name!r}: its name must be text without blanks around it")


def _check_stems(paths: Sequence[str | Path]) -> None:
    first: dict[str, str | Path] = {}
    for path in paths:
        if stem(path) in first:
            raise InputError(f"{first[stem(path)]} and {path}: two edge tables are called {stem(path)!r}: rename one")
        first[stem(path)] = path
