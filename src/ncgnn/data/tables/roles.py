"""Find the id, label, title, source, target, weight and direction columns of a node table and its edge tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ncgnn.data.tables.encoding import EdgeColumns, Encoding
from ncgnn.data.tables.links import Links
from ncgnn.errors import InputError
from ncgnn.text import did_you_mean


def choose_roles(
    nodes: pd.DataFrame,
    where: str,
    links: Sequence[Links],
    wanted: Mapping[str, str | None],
    earlier: Encoding | None,
    *,
    directed: bool = False,
) -> Encoding:
    """Column names: as requested, otherwise as in the earlier encoding, otherwise the defaults. All must exist."""
    roles = {} if earlier is None else {"columns": earlier.columns} | {key: getattr(earlier, key) for key in wanted}
    roles |= {key: name for key, name in wanted.items() if name is not None}
    for key in ("label", "title"):
        if wanted[key] is None and roles.get(key) not in nodes:
            roles[key] = None
    if "id" not in roles:
        roles["id"] = _default_id(nodes, roles["label"], where)
    for end in ("source", "target"):
        if end not in roles:
            roles[end] = _default_end(end, links[0].table, roles, links[0].where)
    found = Encoding(**{"columns": (), **roles})
    for name in (found.id, found.label, found.title):
        check_column(nodes, name, where)
    ends = _all_ends(links, found, wanted, earlier)
    for link, own in zip(links, ends, strict=True):
        for column in (own.source, own.target, found.weight, found.direction):
            check_column(link.table, column, link.where)
    if not directed and len(links) == 1:
        return found
    return found.model_copy(update={"directed": directed, "edge_tables": ends})


def check_column(table: pd.DataFrame, name: str | None, where: str, about: str = "") -> None:
    """Raise an :class:`InputError` that lists the existing columns if there is no column ``name``; ``about`` adds a
    hint."""
    if name is not None and name not in table:
        shown = ", ".join(table.columns[:12]) + (", ..." if len(table.columns) > 12 else "")
        hint = did_you_mean(name, map(str, table.columns))
        raise InputError(f"{where}: there is no column {name!r}{about}; columns: {shown}{hint and f'; {hint}'}")


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


def _all_ends(
    links: Sequence[Links], found: Encoding, wanted: Mapping[str, str | None], earlier: Encoding | None
) -> tuple[EdgeColumns, ...]:
    """The end columns of each table: those of the first one, unless a later table has others and none are requested."""
    first = EdgeColumns(name=links[0].name, source=found.source, target=found.target)
    learned = {} if earlier is None else {columns.name: columns for columns in earlier.edge_tables}
    return first, *(_ends(link, first, wanted, learned.get(link.name)) for link in links[1:])


def _ends(
    link: Links, first: EdgeColumns, wanted: Mapping[str, str | None], learned: EdgeColumns | None
) -> EdgeColumns:
    roles = {key: wanted[key] for key in ("source", "target", "weight", "direction")}
    if learned is None and {roles["source"] or first.source, roles["target"] or first.target} <= set(link.table):
        learned = first
    for end in ("source", "target"):
        if roles[end] is None:
            roles[end] = getattr(learned, end) if learned else _default_end(end, link.table, roles, link.where)
    return EdgeColumns(name=link.name, source=str(roles["source"]), target=str(roles["target"]))
