"""Report of the column roles of two tables, printed before training."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ncgnn.data.tables.encoding import Encoding
from ncgnn.data.tables.links import Links

_MOST_LINES = 30
_FAMILY = 4  # numbers in a row make a vector


class Role(NamedTuple):
    """A column, its role, and a description of its contents.

    ``is_one_way`` is set for the source column of links that seem to have a direction which was not kept.
    """

    table: str
    column: str
    role: str
    detail: str = ""
    is_one_way: bool = False


def node_roles(
    table: str, found: Encoding, labels: str, details: Sequence[str], left_out: Mapping[str, str]
) -> list[Role]:
    """Roles of the columns of the node table: id, label, title, features, ignored columns."""
    label = [] if found.label is None else [Role(table, found.label, "label", labels)]
    title = [] if found.title is None else [Role(table, found.title, "title")]
    features = [
        Role(table, column.name, column.kind, detail) for column, detail in zip(found.columns, details, strict=True)
    ]
    others = [Role(table, name, "dropped", reason) for name, reason in left_out.items()]
    return [Role(table, found.id, "id"), *label, *title, *features, *others]


def edge_roles(
    link: Links, found: Encoding, ends: tuple[str, str], counts: str, *, is_one_way: bool = False
) -> list[Role]:
    """Roles of the columns of an edge table; the first one describes the rows."""
    names = {"source": ends[0], "target": ends[1], "weight": found.weight, "direction": found.direction}
    roles = [Role(link.where, name, role) for role, name in names.items() if name is not None]
    return [roles[0]._replace(detail=counts, is_one_way=is_one_way), *roles[1:]]


def role_lines(roles: Sequence[Role]) -> list[str]:
    """The roles as aligned lines under the table names; with very many columns, the first ones and a count."""
    lines: list[str] = []
    for table in dict.fromkeys(role.table for role in roles):
        own = _with_families([role for role in roles if role.table == table])
        lines += [table, *_aligned(own[:_MOST_LINES])]
        rest = Counter(role.role for role in own[_MOST_LINES:])
        lines += [f"  and {', '.join(f'{count} {role}' for role, count in rest.items())}"] * bool(rest)
    return lines


def _with_families(roles: Sequence[Role]) -> list[Role]:
    """The roles with the numbers of a vector, ``emb_0`` to ``emb_767``, as one."""
    out: list[Role] = []
    for (_, stem, _), members in groupby(enumerate(roles), key=_family):
        found = [member for _, member in members]
        if stem and len(found) >= _FAMILY:
            first, last = found[0].column, found[-1].column
            out.append(Role(found[0].table, f"{first} ... {last}", "vector", f"{len(found)} numbers"))
        else:
            out += found
    return out


def _family(item: tuple[int, Role]) -> tuple[str, str, int]:
    """What members of one vector have in common: role, stem, and number less position."""
    position, role = item
    name = re.fullmatch(r"(.*_)(\d+)", role.column)
    if role.role != "numeric" or name is None:
        return role.role, "", position
    return role.role, name[1], int(name[2]) - position


def _aligned(roles: Sequence[Role]) -> list[str]:
    names = [" ".join(role.column.split()) for role in roles]
    first, second = max(map(len, names)), max(len(role.role) for role in roles)
    return [
        f"  {name:{first}}  {role.role:{second}}  {role.detail}".rstrip()
        for name, role in zip(names, roles, strict=True)
    ]
