"""Settings: validated values, TOML, a hash that is stable across versions, and search spaces of round numbers."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ncgnn.errors import InputError, one_line
from ncgnn.files import read_toml, toml

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

Seed = Annotated[int, Field(ge=0, lt=2**63, description="random seed for weights and dropout")]


class RunSettings(BaseModel):
    """All settings of a run, except for the data and the split.

    Stored results refer to their settings by :attr:`hash`, so it must not change when the code does. It covers
    ``identity``, which is not the name of the class, and the fields in ``always_counted``. A field added later counts
    only if it differs from the default it was introduced with: its current default or, if that ever changes,
    ``Field(..., json_schema_extra={"introduced": value})``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    identity: ClassVar[str]
    always_counted: ClassVar[frozenset[str]] = frozenset()

    if TYPE_CHECKING:
        seed: int  # a field of every subclass, its last

    @property
    def ignored(self) -> frozenset[str]:
        """Fields that have no effect given the others."""
        return frozenset()

    @classmethod
    def make(cls, values: Mapping[str, Any], where: str = "settings") -> Self:
        """Settings from plain values; errors are one line that starts with ``where``."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise InputError(f"{where}: {one_line(error, cls.model_fields)}") from None

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """From a TOML file."""
        return cls.make(read_toml(path), where=str(path))

    def to_toml(self) -> str:
        """The settings as TOML text for :meth:`read`."""
        return toml(self.model_dump(mode="json"))

    def effective(self) -> dict[str, Any]:
        """The fields that affect the result, without the seed."""
        return self.model_dump(mode="json", exclude={"seed", *self.ignored})

    @property
    def hash(self) -> str:
        """Twelve digits, independent of the seed and stable across versions."""
        counted = {key: value for key, value in self.effective().items() if self._counts(key, value)}
        text = json.dumps([self.identity, counted], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def _counts(self, key: str, value: Any) -> bool:
        if key in self.always_counted:
            return True
        field = type(self).model_fields[key]
        extra = field.json_schema_extra
        introduced = extra.get("introduced") if isinstance(extra, dict) else None
        return bool(value != (field.get_default(call_default_factory=True) if introduced is None else introduced))


class TrainingSettings(RunSettings):
    """The settings of a model trained with the defaults of :class:`~ncgnn.models.Model`."""

    lr: float = Field(0.01, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(5e-4, ge=0, le=100, description="weight decay")
    epochs: Annotated[int, Field(ge=1)] = Field(1000, description="maximum number of epochs")
    patience: Annotated[int, Field(ge=1)] = Field(
        100, description="epochs without improvement on validation before stopping"
    )
    normalize_features: bool = Field(True, description="divide each feature row by its L1 norm")
    balance: bool = Field(False, description="give all classes the same weight, however many nodes they have")
    seed: Seed = 0


def stepped(trial: "BaseTrial", name: str, low: float, high: float, step: float) -> float:
    """A multiple of ``step``."""
    return round(trial.suggest_float(name, low, high, step=step), 2)


def scaled(trial: "BaseTrial", name: str, low: float, high: float) -> float:
    """Two digits, uniform on a logarithmic scale."""
    return float(f"{trial.suggest_float(name, low, high, log=True):.2g}")
