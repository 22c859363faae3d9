"""How the columns of a node table are encoded as features; stored with a model and applied to later tables."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ncgnn.errors import InputError

Kind = Literal["numeric", "categorical", "date", "text"]


class Column(BaseModel):
    """One feature column.

    Numbers and dates (as days since 1970) become one feature ``(value - mean) / scale``; a ``flag`` of zeros and ones
    is unchanged. Each category becomes one feature, and so does each word of a text, weighted by ``idf``; ``known`` is
    the fraction of words in the original table that were kept.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    name: str
    kind: Kind
    mean: float = 0.0
    scale: float = Field(default=1.0, gt=0)
    flag: bool = False
    categories: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    known: float = 1.0

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if not len(set(self.words)) == len(self.words) == len(self.idf):
            raise ValueError("words must be unique and each must have a weight")
        if len(set(self.categories)) != len(self.categories):
            raise ValueError("categories must be unique")
        return self

    @property
    def is_number(self) -> bool:
        return self.kind in ("numeric", "date")

    @property
    def feature_names(self) -> list[str]:
        """``["age"]``, ``["venue=ICML", "venue=KDD"]`` or ``["title:graph", "title:neural"]``."""
        if self.is_number:
            return [self.name]
        return [f"{self.name}={value}" for value in self.categories] + [f"{self.name}:{word}" for word in self.words]

    @property
    def width(self) -> int:
        """How many features it has."""
        return 1 if self.is_number else len(self.categories) + len(self.words)


class EdgeColumns(BaseModel):
    """The name of an edge table, and its columns for the two ends of an edge."""

    model_config = ConfigDict(frozen=True)

    name: str
    source: str
    target: str


class Encoding(BaseModel):
    """The column names used to read a node table and its edge tables, and the encoding of each feature column.

    ``source`` and ``target`` are the columns of the first edge table; ``edge_tables`` has those of all, if there are
    several or if edges are ``directed``.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    label: str | None = None
    title: str | None = None
    source: str
    target: str
    weight: str | None = None
    direction: str | None = None
    columns: tuple[Column, ...]
    directed: bool = False
    edge_tables: tuple[EdgeColumns, ...] = ()

    def __repr__(self) -> str:
        return f"Encoding({len(self.columns)} columns, {sum(column.width for column in self.columns)} features)"

    __str__ = __repr__  # printed as part of a graph; all words of a text would be too much

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in the order of the columns of ``x``."""
        return [name for column in self.columns for name in column.feature_names]

    @property
    def scaled(self) -> tuple[Column, ...]:
        """The standardised columns, in the order of ``data.numbers``."""
        return tuple(column for column in self.columns if column.is_number and not column.flag)

    def to_json(self) -> str:
        """The encoding as JSON text."""
        later = {"directed", "edge_tables"}  # a graph without them is stored as it was before there were any
        return self.model_dump_json(exclude={key for key in later if not getattr(self, key)})

    @classmethod
    def from_json(cls, text: str) -> "Encoding":
        """The encoding from the output of :meth:`to_json`."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"not an encoding of table columns: {where or 'text'}: {first['msg']}") from error
