"""Column roles set by the user, as options or in a TOML file."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from ncgnn.data.tables.encoding import Encoding
from ncgnn.data.tables.roles import check_column
from ncgnn.errors import InputError, unknown_key
from ncgnn.files import read_toml


class Columns(BaseModel):
    """The column options of :func:`ncgnn.read_graph`."""

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
    """Options for :func:`ncgnn.read_graph` from a TOML file."""
    try:
        return Columns.model_validate(read_toml(path)).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            raise InputError(f"{path}: {unknown_key(key, Columns.model_fields)}") from None
        wanted = "a column name" if Columns.model_fields[key].default is None else "a list of column names"
        raise InputError(f"{path}: {key} = {first['input']!r}: must be {wanted}") from None


def with_options(columns: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the settings of a file with options; options override whatever the file says about the same column."""
    said = {key: value for key, value in options.items() if isinstance(value, list)}
    listed = {name for names in said.values() for name in names}
    columns = {key: value for key, value in columns.items() if key not in ("id", "label") or value not in listed}
    named = listed | {options[key] for key in ("id", "label") if key in options}
    kept = {
        key: [name for name in value if name not in named] for key, value in columns.items() if isinstance(value, list)
    }
    return {**columns, **options, **{key: kept.get(key, []) + said.get(key, []) for key in {**kept, **said}}}


def kinds_of(**named: Collection[str]) -> dict[str, Any]:
    """The kind set for each column, or ``ignore``; :class:`InputError` for a column listed twice."""
    kinds: dict[str, Any] = {}
    for kind, names in named.items():
        if isinstance(names, str):
            raise InputError(f"{kind}={names!r}: give a list of column names")
        for name in names:
            if kinds.setdefault(name, kind) != kind:
                raise InputError(f"column {name!r} is listed as {kinds[name]} and as {kind}: keep one")
    return kinds


def check_replay(earlier: Encoding, said: Mapping[str, Any]) -> None:
    """Check that column options agree with the encoding of the model, which takes precedence."""
    learned: dict[str, str] = {column.name: column.kind for column in earlier.columns}
    for kind in ("numeric", "categorical", "date", "text", "ignore"):
        for name in said.get(kind, ()):
            found = learned.get(name, "ignore")
            if found != kind:
                how = "does not use this column" if found == "ignore" else f"uses this column as {found}"
                raise InputError(f"column {name!r} under {kind}: the model {how}: remove the option, or retrain")


def check_direction(earlier: Encoding, directed: bool) -> bool:
    """Whether the model was trained on directed edges; :class:`InputError` if ``directed`` contradicts it."""
    if directed and not earlier.directed:
        raise InputError("the model was trained on edges without direction: remove the option, or retrain", "directed")
    return earlier.directed


def feature_columns(table: pd.DataFrame, roles: Encoding, kinds: Mapping[str, str], where: str) -> pd.DataFrame:
    """The feature columns of the node table."""
    no_features = {roles.id: "id", roles.label: "label"}
    for name, kind in kinds.items():
        check_column(table, name, where)
        if name in no_features and kind != "ignore":
            raise InputError(f"column {name!r} is the {no_features[name]}, not a feature: remove it from {kind}")
    return table[[name for name in table.columns if name not in no_features and kinds.get(name) != "ignore"]]
