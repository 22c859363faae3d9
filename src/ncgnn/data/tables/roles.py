"""Find the id, label, title, source, target, weight and direction columns of two tables."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ncgnn.data.tables.encoding import Encoding
from ncgnn.errors import InputError


def choose_roles(
    nodes: pd.DataFrame,
    edges: pd.DataFrame,
    wanted: Mapping[str, str | None],
    earlier: Encoding | None,
    where: tuple[str, str],
) -> Encoding:
    """Column names: as requested, otherwise as in the earlier encoding, otherwise the defaults. All must exist."""
    roles = {} if earlier is None else {"columns": earlier.columns} | {key: getattr(earlier, key) for key in wanted}
    roles |= {key: name for key, name in wanted.items() if name is not None}
    for key in ("label", "title"):
        if wanted[key] is None and roles.get(key) not in nodes:
            roles[key] = None
    if "id" not in roles:
        roles["id"] = _default_id(nodes, roles["label"], where[0])
    for end in ("source", "target"):
        if end not in roles:
            roles[end] = _default_end(end, edges, roles, where[1])
    found = Encoding(**{"columns": (), **roles})
    for table, place, names in (
        (nodes, where[0], (found.id, found.label, found.title)),
        (edges, where[1], _edge_columns(found)),
    ):
        for name in names:
            check_column(table, name, place)
    return found


def check_column(table: pd.DataFrame, name: str | None, where: str, about: str = "") -> None:
    """Raise an :class:`InputError` that lists the existing columns if there is no column ``name``; ``about`` adds a
    hint."""
    if name is not None and name not in table:
        shown = ", ".join(table.columns[:12]) + (", ..." if len(table.columns) > 12 else "")
        raise InputError(f"{where}: there is no column {name!r}{about}; columns: {shown}")


def _default_id(nodes: pd.DataFrame, label: str | None, where: str) -> str:
    others = [name for name in nodes.columns if name != label]
    if not others:
        raise InputError(f"{where}: no id column: add a column 'id' with a unique id per node")
    return "id" if "id" in others else others[0]


def _default_end(end: str, edges: pd.DataFrame, roles: Mapping[str, Any], where: str) -> str:
    taken = {roles.get(key) for key in ("source", "target", "weight", "direction")}
    left = [name for name in edges.columns if name not in taken]
    if not left:
        raise InputError(f"{where}: an edge table needs two columns, 'source' and 'target'")
    other = "target" if end == "source" else "source"
    return end if end in left else next((name for name in left if name != other), left[0])


def _edge_columns(found: Encoding) -> tuple[str | None, ...]:
    return found.source, found.target, found.weight, found.direction
