"""How the columns of a node table became features: kept with a model, replayed on later tables."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ncgnn.errors import InputError

Kind = Literal["numeric", "categorical", "date", "text"]


class Column(BaseModel):
    """One feature column.

    Numbers and dates (as days since 1970) become one feature ``(value - mean) / scale``, a ``flag`` of zeros and ones
    stays as it is. Categories become one feature each, and so do the words of a text, weighed by ``idf``; of all words
    in the table that taught them, a share ``known`` was kept.
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
            raise ValueError("each word must be there once and have a weight")
        if len(set(self.categories)) != len(self.categories):
            raise ValueError("each category must be there once")
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


class Encoding(BaseModel):
    """Names of the columns that a pair of tables was read with, and what each feature column became."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str | None = None
    title: str | None = None
    source: str
    target: str
    weight: str | None = None
    direction: str | None = None
    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        return f"Encoding({len(self.columns)} columns, {sum(column.width for column in self.columns)} features)"

    __str__ = __repr__  # part of what a graph prints; all words of a text would be too much

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in the order of the columns of ``x``."""
        return [name for column in self.columns for name in column.feature_names]

    @property
    def scaled(self) -> tuple[Column, ...]:
        """Columns whose numbers are shifted and scaled: those of ``data.numbers``, in its order."""
        return tuple(column for column in self.columns if column.is_number and not column.flag)

    def to_json(self) -> str:
        """The encoding as one JSON text."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str) -> "Encoding":
        """The encoding that :meth:`to_json` wrote."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"not an encoding of table columns: {where or 'text'}: {first['msg']}") from error
