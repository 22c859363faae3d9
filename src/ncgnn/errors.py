"""The one kind of error a user can cause and mend."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ncgnn.text import did_you_mean, shortened

if TYPE_CHECKING:
    from pydantic import ValidationError


class InputError(ValueError):
    """Bad input: a file, table, name, option or configuration. The message is one line that says what to do.

    The command line prints it and exits with 2; in Python it is a plain ``ValueError``.

    Attributes:
        options: the parameters that mend it, for the command line to name its options.
    """

    def __init__(self, message: str, *options: str) -> None:
        super().__init__(shortened(message))  # names from files may hold any character, and many
        self.options = options


def one_line(error: "ValidationError", known: Iterable[str]) -> str:
    """What is wrong with settings of which the keys are ``known``."""
    errors = error.errors()
    # of a number or a list, the kind that was meant has the error further inside
    first = max((e for e in errors if e["loc"][:1] == errors[0]["loc"][:1]), key=lambda e: len(e["loc"]))
    key = ".".join(str(part) for i, part in enumerate(first["loc"]) if i == 0 or isinstance(part, int))
    if first["type"] == "extra_forbidden":
        return unknown_key(key, known)
    message = first["msg"].removeprefix("Value error, ")
    return f"{key} = {_said(first['input'])}: {message}" if key else message


def unknown_key(key: str, known: Iterable[str]) -> str:
    """That there is no such key, and which was meant or, if that is not plain, which there are."""
    names = list(known)
    every = f"known keys: {', '.join(names)}"
    return f"unknown key {key!r}; {did_you_mean(key, names, every)}"


def _said(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return "a number of thousands of digits"
