"""How the columns of a node table became features: kept with a model, replayed on later tables."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ncgnn.errors import InputError


class Column(BaseModel):
    """One feature column: a number ``(value - mean) / scale``, or one feature for each category."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: Literal["numeric", "categorical"]
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()

    @property
    def feature_names(self) -> list[str]:
        """``["age"]`` for numbers, ``["venue=ICML", "venue=KDD"]`` for categories."""
        return [self.name] if self.kind == "numeric" else [f"{self.name}={value}" for value in self.categories]


class Encoding(BaseModel):
    """Names of the columns that a pair of tables was read with, and what each feature column became."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str | None = None
    source: str
    target: str
    weight: str | None = None
    columns: tuple[Column, ...]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in the order of the columns of ``x``."""
        return [name for column in self.columns for name in column.feature_names]

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
