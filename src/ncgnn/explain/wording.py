"""What features are called in a sentence: by the column of a table that they come from, numbers with their values."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.tables.encoding import Column
from ncgnn.explain.features import Columns
from ncgnn.explain.groups import BELIEFS, FEATURES, LINKS
from ncgnn.models.base.chosen_edges import IN, OUT
from ncgnn.scored import Names

WORDS = "features"
"""What features are that come from no table."""

_ENDS = {OUT: "to", IN: "from", "": "with"}


@dataclass(frozen=True)
class Said:
    """A feature in a sentence, as in "its own title “yoga” and “mat”".

    Attributes:
        of: what it is one of, such as a column; nothing for a number, which is said as a whole.
        name: it alone, in quotation marks, or a number with its value.
    """

    of: str
    name: str


class Wording:
    """The features of one graph in words. Numbers are compared with those of all its nodes or, for a part of a graph,
    with those of the ``whole``."""

    def __init__(self, columns: Columns, names: Names, data: Data, whole: "Wording | None" = None) -> None:
        self.columns, self.names, self.data = columns, names, data
        self._whole, self._sorted = whole, dict[str, np.ndarray]()

    def __call__(self, feature: int, node: int | None) -> Said:
        """How a feature is said; of one node, numbers with their values."""
        reads, number = self.columns.read(feature)
        if reads.what == FEATURES:
            return self._of_table(number, node)
        if reads.what == LINKS:
            id, title = self.names.linked_node(number)
            return Said(f"links{reads.place} {_ENDS[reads.direction]}", quoted(title or id))
        if reads.what == BELIEFS:
            return Said("class", quoted(self.names.classes[number]))
        return Said(reads.what, str(number))

    def _of_table(self, number: int, node: int | None) -> Said:
        if number not in self._columns:
            return Said(WORDS, quoted(self.names.features[number]))
        column, name = self._columns[number]
        if not column.is_number or column.flag:
            return Said(WORDS if column.flag else column.name, quoted(name))
        return Said("", column.name if node is None else f"{column.name} {self._value(column, node)}")

    def with_value(self, feature: str, node: int) -> str:
        """The name of a feature, of a number with its value and how that compares."""
        column = self._scaled.get(feature)
        return feature if column is None else f"{feature} {self._value(column, node)}"

    @cached_property
    def _scaled(self) -> dict[str, Column]:
        encoding = self.data.get("encoding")
        return {} if encoding is None else {column.name: column for column in encoding.scaled}

    def _value(self, column: Column, node: int) -> str:
        values = self._numbers.get(column.name)
        if values is None or np.isnan(values[node]):
            return "(missing)"
        known = self._ordered(column.name)
        below = 100 * np.searchsorted(known, values[node]) / len(known)
        above = 100 - 100 * np.searchsorted(known, values[node], side="right") / len(known)
        more, less = ("later", "earlier") if column.kind == "date" else ("higher", "lower")
        side, share = (more, below) if below >= above else (less, above)
        than = f"{side} than {share:.0f} % of all" if share < 99.5 else f"the {side.removesuffix('r')}st"
        return f"{_shown(column, values[node])} ({than})"

    def _ordered(self, name: str) -> np.ndarray:
        """The known values of a column, sorted once."""
        if self._whole is not None:
            return self._whole._ordered(name)
        if name not in self._sorted:
            values = self._numbers[name]
            self._sorted[name] = np.sort(values[~np.isnan(values)])
        return self._sorted[name]

    @cached_property
    def _columns(self) -> dict[int, tuple[Column, str]]:
        """The column of each feature of a table, and the rest of its name."""
        encoding = self.data.get("encoding")
        found: dict[int, tuple[Column, str]] = {}
        for column in encoding.columns if encoding is not None else ():
            for name in column.feature_names:
                found[len(found)] = (column, name[len(column.name) + 1 :] or name)
        return found

    @cached_property
    def _numbers(self) -> dict[str, np.ndarray]:
        encoding, numbers = self.data.get("encoding"), self.data.get("numbers")
        if encoding is None or numbers is None:
            return {}
        return dict(zip((column.name for column in encoding.scaled), numbers.numpy().T, strict=True))


def _shown(column: Column, value: float) -> str:
    if column.kind == "date":
        return str(np.datetime64("1970-01-01") + np.timedelta64(int(value), "D"))
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def class_said(name: str) -> str:
    """``class 4``: a number alone would not read as a class."""
    return f"class {name}" if name.isdecimal() else name


def quoted(name: str) -> str:
    return f"“{name}”"


def listed(names: list[str]) -> str:
    """``a``, ``a and b`` or ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1] if names else ""]))
