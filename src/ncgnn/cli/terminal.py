"""What verbs show and refuse alike."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table


def print_tables(*tables: "Table", least: int = 120) -> None:
    """In a width of at least so many letters: a pipe or a small terminal must not cut numbers."""
    from rich.console import Console

    console = Console(width=max(least, Console().width))
    for table in tables:
        console.print(table)


def refuse(options: Mapping[str, object], why: str) -> None:
    """Ends at the first option that was given though it would be ignored."""
    given = next((option for option, value in options.items() if value), None)
    if given is not None:
        raise InputError(f"{why}: remove {given}")
