"""How parameters of the library are given on the command line."""

import re
import shlex
from collections.abc import Iterable

_WITH_VALUE = {
    "batch": "--batch N",
    "calibrate": "--calibrate 0.5",
    "fractions": "--fractions 0.5 0.3",
    "ignore": "--ignore COLUMN",
    "library": "--set library=scikit-learn",
    "model_class": "--model-class package.module:Name",
    "num_capsules": "--set num_capsules=4",
    "per_class": "--per-class N",
    "primary_channels": "--set primary_channels=16",
    "top_k": "--set top_k=32",
    "val": "--val M",
}


def flag(option: str) -> str:
    """What to type for a parameter."""
    return _WITH_VALUE.get(option, f"--{option.replace('_', '-')}")


def with_flags(text: str, options: Iterable[str]) -> str:
    """A message, and what to type to follow it."""
    flags = ", ".join(map(flag, options))
    return f"{text} ({flags})" if flags else text


def as_options(text: str) -> str:
    """A text in which settings, as in ``hops = [0, 1, 2]``, are what to type: ``--set 'hops=[0,1,2]'``."""
    return re.sub(r"\b(\w+) = (\[[^\]]*\]|\w+)", _option, text)


def _option(setting: re.Match[str]) -> str:
    return f"--set {shlex.quote(f'{setting[1]}={setting[2]}'.replace(' ', ''))}"
