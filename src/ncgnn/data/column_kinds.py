"""What a user says about columns, as options or in a TOML file."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from ncgnn.data.encoding import Encoding, Kind
from ncgnn.data.roles import check_column
from ncgnn.errors import InputError
from ncgnn.files import read_toml


class Columns(BaseModel):
    """The options of :func:`ncgnn.read_graph` that name columns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = None
    label: str | None = None
    title: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    direction: str | None = None
    numeric: list[str] = []
    categorical: list[str] = []
    date: list[str] = []
    text: list[str] = []
    ignore: list[str] = []


def read_columns(path: str | Path) -> dict[str, Any]:
    """Options for :func:`ncgnn.read_graph` from a TOML file: those that it sets."""
    try:
        return Columns.model_validate(read_toml(path)).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            raise InputError(f"{path}: unknown key {key!r}; known keys: {', '.join(Columns.model_fields)}") from None
        wanted = "a column name" if Columns.model_fields[key].default is None else "a list of column names"
        raise InputError(f"{path}: {key} = {first['input']!r}: must be {wanted}") from None


def kinds_of(**named: Collection[str]) -> dict[str, Kind]:
    """Kind of each column that is named; a column that is named for two kinds is an :class:`InputError`."""
    kinds: dict[str, Any] = {}
    for kind, names in named.items():
        for name in names:
            if kinds.setdefault(name, kind) != kind:
                raise InputError(f"column {name!r} is named as {kinds[name]} and as {kind}: keep one")
    return kinds


def check_replay(earlier: Encoding, said: Mapping[str, Any]) -> None:
    """Whether what is said of columns agrees with what a model has learnt of them, which is what holds."""
    learnt: dict[str, str] = {column.name: column.kind for column in earlier.columns}
    for kind in ("numeric", "categorical", "date", "text", "ignore"):
        for name in said.get(kind, ()):
            found = learnt.get(name, "ignore")
            if found != kind:
                how = "has not learnt from this column" if found == "ignore" else f"has learnt this column as {found}"
                raise InputError(f"column {name!r} under {kind}: the model {how}: do not name it, or train again")


def feature_columns(
    table: pd.DataFrame, roles: Encoding, kinds: Mapping[str, Kind], ignore: Collection[str], where: str
) -> pd.DataFrame:
    """The columns of the node table that are features."""
    for name in (*kinds, *ignore):
        check_column(table, name, where)
    return table[[name for name in table.columns if name not in {roles.id, roles.label, *ignore}]]
